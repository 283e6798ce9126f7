import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Kit, request } from '../../kit.ts'

export function bodiesOfWebRequests(kit: Kit): void {
  describe('bodies', () => {
    // What Node.js reads forms with takes boundaries from 27 characters on.
    const edge = 'boundary'.repeat(4)

    const boundary = `multipart/form-data; boundary=${edge}`

    const part = `--${edge}\r\nContent-Disposition: form-data; name="x"\r\n\r\nvalue`

    const forms: [name: string, type: string | null, body: string, status: number, code?: string][] = [
      ['a whole form', boundary, `${part}\r\n--${edge}--\r\n`, 200],
      ['a form of text', 'application/x-www-form-urlencoded', 'x=value', 200],
      ['an image', 'image/png', 'x', 415, 'E_BODY_TYPE'],
      ['JSON', 'application/json', '{"x":"value"}', 415, 'E_BODY_TYPE'],
      ['no type', null, 'x', 415, 'E_BODY_TYPE'],
      ['a broken type', 'multipart/form-data; =', part, 415, 'E_BODY_TYPE'],
      ['no body and no type', null, '', 415, 'E_BODY_TYPE'],
      ['no boundary', 'multipart/form-data', part, 400, 'E_BODY_MALFORMED'],
      ['another boundary', `${boundary}b`, part, 400, 'E_BODY_MALFORMED'],
      ['no end', boundary, part, 400, 'E_BODY_MALFORMED'],
      [
        'a part without a name',
        boundary,
        `--${edge}\r\n\r\nvalue\r\n--${edge}--\r\n`,
        400,
        'E_BODY_MALFORMED',
      ],
      ['nothing', boundary, '', 400, 'E_BODY_MALFORMED'],
    ]

    for (const bodyMode of ['buffer', 'stream'] as const) {
      for (const [name, type, body, status, code] of forms) {
        test(`ctx.request.formData() of ${name} is ${status} (${bodyMode})`, async () => {
          const app = kit.app()
          app.post('/f', { bodyMode }, async (ctx) => ({ x: (await ctx.request.formData()).get('x') }))
          app.post('/clone', { bodyMode }, async (ctx) => {
            await ctx.request.clone().formData()
            return { x: (await ctx.request.formData()).get('x') }
          })
          const headers: Record<string, string> = type === null ? {} : { 'content-type': type }
          const check = (given: number, json: unknown) => {
            assert.equal(given, status)
            if (code === undefined) assert.deepEqual(json, { x: 'value' })
            else assert.equal((json as { code: string }).code, code)
          }
          await kit.serve(app, async (live) => {
            const reports = kit.reports.length
            for (const path of ['/f', '/clone']) {
              const reply = await live.post(path, type, body)
              check(reply.status, reply.json())
            }
            const injected = await app.inject({ url: '/f', method: 'POST', headers, body: Buffer.from(body) })
            check(injected.status, injected.json())
            const init = { method: 'POST', headers, body: Buffer.from(body) }
            const fetched = await app.fetch(new Request('http://x/f', init))
            check(fetched.status, await fetched.json())
            assert.equal(kit.reports.length, reports)
          })
        })
      }
    }

    test('ctx.request: past the limit 413, compressed 415, malformed JSON 400, read twice 500', async () => {
      const app = kit.app()
      const options = { bodyMode: 'stream', maxBodySize: 1_000 } as const
      app.post('/form', options, async (ctx) => [...(await ctx.request.formData())].length)
      app.post('/json', options, (ctx) => ctx.request.json())
      app.post('/twice', options, async (ctx) => {
        await ctx.request.text()
        return [...(await ctx.request.formData())].length
      })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        const chunked = { 'content-type': boundary, 'transfer-encoding': 'chunked' }
        const body = `3e9\r\n${'x'.repeat(1_001)}\r\n0\r\n\r\n`
        assert.equal((await wire.send(request('POST', '/form', chunked, body)).reply()).status, 413)
        const form = `${part}\r\n--${edge}--\r\n`
        assert.equal((await live.post('/form', boundary, form, { 'content-encoding': 'gzip' })).status, 415)
        assert.equal((await live.post('/json', 'text/plain', '[1]')).text, '[1]')
        const broken = await live.post('/json', 'text/plain', '[1')
        assert.deepEqual([broken.status, (broken.json() as { code: string }).code], [400, 'E_BODY_MALFORMED'])
        assert.equal((await live.post('/twice', boundary, form)).status, 500)
        assert.match(String(kit.reports.pop()), /TypeError: Body is unusable/)
      })
    })
  })
}
