/** Tags of files, contracts and procedures, and of a part of an app alone. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { etag } from 'volant'
import { procedure, rest, router } from 'volant/procedures'
import { z } from 'zod'
import { kit } from './kit.ts'

const folder = mkdtempSync(join(tmpdir(), 'volant-'))

after(() => rmSync(folder, { recursive: true }))

describe('etag', () => {
  test('files keep their own tags and conditions', async () => {
    const path = join(folder, 'a.txt')
    writeFileSync(path, 'hello')
    const app = kit.app()
    app.use(etag())
    app.get('/file', (ctx) => ctx.file(path))
    await kit.serve(app, async (live) => {
      const { headers } = await live.ask('/file')
      assert.match(headers['etag'] ?? '', /^W\/"5-/)
      const same = await live.ask('/file', { headers: { 'if-none-match': headers['etag'] as string } })
      assert.equal(same.status, 304)
      assert.equal((await live.ask('/file', { headers: { range: 'bytes=0-1' } })).status, 206)
    })
  })

  test('replies of a contract and of procedures', async () => {
    const app = kit.app()
    app.use(etag())
    app.get('/user', { response: z.object({ id: z.number() }) }, () => ({ id: 7 }))
    const users = router({
      getUser: procedure()
        .input(z.object({ id: z.number() }))
        .query(({ input }) => input),
    })
    app.register(rest(router({ users })))
    await kit.serve(app, async (live) => {
      for (const path of ['/user', '/users/7']) {
        const { headers, text } = await live.ask(path)
        assert.equal(text, '{"id":7}')
        const same = await live.ask(path, { headers: { 'if-none-match': headers['etag'] as string } })
        assert.deepEqual([same.status, same.text], [304, ''], path)
      }
    })
  })

  test('on a route, a scope or a path it is for these alone', async () => {
    const app = kit.app()
    app.get('/route', etag(), () => 'hello')
    app.with(etag()).get('/scope', () => 'hello')
    app.use('/path', etag())
    app.get('/path/x', () => 'hello')
    app.get('/other', () => 'hello')
    await kit.serve(app, async (live) => {
      for (const [path, has] of [
        ['/route', true],
        ['/scope', true],
        ['/path/x', true],
        ['/other', false],
      ] as const) {
        assert.equal((await live.ask(path)).headers['etag'] !== undefined, has, path)
      }
    })
  })
})
