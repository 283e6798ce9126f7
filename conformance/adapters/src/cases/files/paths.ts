import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { VolantError } from 'volant'
import { type Kit } from '../../kit.ts'
import { type Folder, hello } from './folder.ts'

export function pathsOfFiles(kit: Kit, { folder, root, serve }: Folder): void {
  const paths: [path: string, status: number][] = [
    ['/f/a.txt', 200],
    ['/f/in.txt', 200],
    ['/f/sub//../a.txt', 400],
    ['/f/..%2foutside.txt', 404],
    ['/f/sub%2f..%2fa.txt', 404],
    ['/f/..%5coutside.txt', 404],
    ['/f/%2e%2e%2foutside.txt', 404],
    ['/f/..%2fpublic-not%2fx.txt', 404],
    ['/f/%2fetc%2fpasswd', 404],
    ['/f/env.txt', 404],
    ['/f/git/config', 404],
    ['/f/out.txt', 404],
    ['/f/up/outside.txt', 404],
    ['/f/up/public/a.txt', 200],
    ['/f/.env', 404],
    ['/dot/.env', 200],
    ['/f/sub/.git/config', 404],
    ['/dot/sub/.git/config', 200],
    ['/in/config', 200],
    ['/dot/env.txt', 200],
    ['/dot/git/config', 200],
    ['/dot/..%2foutside.txt', 404],
    ['/dot/%2e%2e%2foutside.txt', 404],
    ['/f/none.txt', 404],
    ['/q?name=', 404],
    ['/f/sub', 404],
    ['/f/sub/', 404],
    ['/f/a.txt/', 404],
    ['/f/a.txt/b', 404],
    ['/f/loop', 404],
    ['/f/pipe', 404],
    ['/f/%2f', 404],
    [`/f/${'x'.repeat(250)}/${'y'.repeat(4)}`, 404],
    [`/f/${'x'.repeat(256)}`, 404],
  ]

  for (const [path, status] of paths) {
    test(`${path.slice(0, 40)} is ${status}`, async () => {
      await serve(async (live) => {
        const reply = await live.ask(path)
        assert.equal(reply.status, status)
        if (status === 404) assert.equal((reply.json() as { code: string }).code, 'E_NOT_FOUND')
        assert.ok(!reply.text.includes(folder), 'a path of this machine')
      })
    })
  }

  test('without root a path is the program’s own: relative, absolute, a URL', async () => {
    const app = kit.app()
    app.get('/url', (ctx) => ctx.file(pathToFileURL(join(root, 'a.txt'))))
    app.get('/up', (ctx) => ctx.file(join(root, '..', 'outside.txt')))
    app.get('/relative', (ctx) => ctx.file('package.json'))
    app.get('/nul', (ctx) => ctx.file('a\0b'))
    app.get('/root', (ctx) => ctx.file('a.txt', { root: join(folder, 'none') }))
    await kit.serve(app, async (live) => {
      assert.equal((await live.ask('/url')).text, hello)
      assert.equal((await live.ask('/up')).text, 'secret')
      const relative = await live.ask('/relative')
      assert.equal(relative.status, existsSync('package.json') ? 200 : 404)
      assert.equal((await live.ask('/nul')).status, 404)
      assert.equal((await live.ask('/root')).status, 500)
      const error = kit.reports.pop() as VolantError
      assert.equal(error.code, 'E_BAD_OPTION')
      assert.match(error.message, /^file: root takes a folder that exists, not ".*none"$/)
    })
  })
}
