import assert from 'node:assert/strict'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { eventually, type Kit, request } from '../../kit.ts'
import { type, part, end, whole, savedForms } from './kit.ts'

export function limitsOfForms(kit: Kit): void {
  describe('forms', () => {
    const { folder, saving } = savedForms(kit)

    const endless: [what: string, bytes: string][] = [
      ['100,000 parts', part('name=a', '').repeat(200)],
      ['100,000 files', part('name=a; filename=b', '').repeat(20)],
      ['a header field without end', `--b\r\nX: ${'x'.repeat(5000)}`],
      ['header fields without end', `--b\r\n${'X-A: b\r\n'.repeat(20)}`],
      ['a field without end', `--b\r\nContent-Disposition: form-data; name=a\r\n\r\n${'x'.repeat(70_000)}`],
      ['a name without end', `--b\r\nContent-Disposition: form-data; name=${'x'.repeat(256)}\r\n\r\n`],
    ]

    for (const [what, bytes] of endless) {
      test(`${what}: 413 long before its end`, async () => {
        const { app } = saving()
        await kit.serve(app, async (live) => {
          const wire = await live.connect()
          wire.send(request('POST', '/save', { 'content-type': type, 'content-length': '1000000000' }, bytes))
          const reply = await wire.reply()
          const { code, detail } = reply.json() as { code: string; detail: string }
          assert.deepEqual([reply.status, code], [413, 'E_FORM_TOO_LARGE'])
          assert.match(detail, /more than|longer than|larger than/)
          await eventually(() => readdirSync(folder).length === 0, 'no file is left')
        })
      })
    }

    test('a form of 100,000 parts that was buffered is 413', async () => {
      const app = kit.app({ limits: { maxBodySize: 8_000_000 } })
      app.post('/form', (ctx) => ctx.form())
      await kit.serve(app, async (live) => {
        assert.equal((await live.post('/form', type, part('name=a', '').repeat(100_000) + end)).status, 413)
      })
    })

    test('a form past maxBodySize is 413, whether its length is known or not', async () => {
      const app = kit.app()
      app.post('/form', { bodyMode: 'stream', maxBodySize: 1000 }, (ctx) => ctx.form())
      await kit.serve(app, async (live) => {
        const body = part('name=a', 'x'.repeat(1000)) + end
        assert.equal((await live.post('/form', type, body)).status, 413)
        const wire = await live.connect()
        const chunk = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
        wire.send(request('POST', '/form', { 'content-type': type, 'transfer-encoding': 'chunked' }, chunk))
        const reply = await wire.reply()
        assert.deepEqual([reply.status, (reply.json() as { code: string }).code], [413, 'E_BODY_TOO_LARGE'])
      })
    })

    test('a handler that leaves the rest of a form unread is answered', async () => {
      const app = kit.app({ limits: { drainLimit: 1_000_000 } })
      app.post('/first', { bodyMode: 'stream' }, async (ctx) => {
        for await (const { name } of ctx.parts()) return name
        return ''
      })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        for (let round = 0; round < 2; round++) {
          wire.send(request('POST', '/first', { 'content-type': type }, whole))
          assert.equal((await wire.reply()).text, 'title')
        }
      })
    })

    test(
      '100 Continue is sent when a form is read, and not for one that is refused',
      kit.needs('late-100'),
      async () => {
        const { app } = saving()
        await kit.serve(app, async (live) => {
          const body = part('name=a', 'x') + end
          const expecting = { expect: '100-continue', 'content-length': String(body.length) }
          const wire = await live.connect()
          wire.send(request('POST', '/save', { 'content-type': type, ...expecting }))
          assert.equal((await wire.interim()).status, 100)
          wire.send(body)
          assert.equal((await wire.reply()).text, '[1]')
          const refused = await live.connect()
          refused.send(request('POST', '/save', { 'content-type': 'image/png', ...expecting }))
          assert.equal((await refused.interim()).status, 415)
          for (const name of readdirSync(folder)) rmSync(join(folder, name))
        })
      },
    )
  })
}
