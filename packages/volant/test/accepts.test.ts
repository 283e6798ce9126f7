import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Context, VolantError } from 'volant'
import { z } from 'zod'
import { encodings, languages, type Row, types } from './accepts-rows.ts'
import { Kit } from './kit.ts'

const groups: [string, Row[], (ctx: Context, offers: string[]) => string | false][] = [
  ['accept', types, (ctx, offers) => ctx.accepts(...offers)],
  ['accept-language', languages, (ctx, offers) => ctx.acceptsLanguages(...offers)],
  ['accept-encoding', encodings, (ctx, offers) => ctx.acceptsEncodings(...offers)],
]

const kit = new Kit()

describe('accepts', () => {
  for (const [name, rows, choose] of groups) {
    test(`${name}: ${rows.length} negotiations`, async () => {
      const app = kit.app()
      let offers: string[] = []
      app.get('/x', (ctx) => ({ chosen: choose(ctx, offers) }))
      await kit.serve(app, async (live) => {
        for (const row of rows) {
          const [header, , expected] = row
          offers = row[1]
          const reply = await live.ask('/x', { headers: header === null ? {} : { [name]: header } })
          assert.deepEqual(reply.json(), { chosen: expected }, `${header?.slice(0, 60)} for ${offers.join()}`)
        }
      })
    })
  }

  const nonsense: [string, (ctx: Context) => unknown][] = [
    ['accepts', (ctx) => ctx.accepts()],
    ['accepts', (ctx) => ctx.accepts('')],
    ['accepts', (ctx) => ctx.accepts('jason')],
    ['accepts', (ctx) => ctx.accepts('toString')],
    ['accepts', (ctx) => ctx.accepts('text/*')],
    ['accepts', (ctx) => ctx.accepts('a/b/c')],
    ['accepts', (ctx) => ctx.accepts(['json'] as unknown as string)],
    ['acceptsLanguages', (ctx) => ctx.acceptsLanguages()],
    ['acceptsEncodings', (ctx) => ctx.acceptsEncodings(5 as unknown as string)],
  ]
  for (const [name, call] of nonsense) {
    test(`${String(call).replace(/^.*?ctx\./s, '')} is refused`, async () => {
      const app = kit.app()
      app.get('/x', call)
      await kit.serve(app, async (live) => {
        assert.equal((await live.ask('/x', { headers: { accept: '*/*' } })).status, 500)
        const error = kit.reports.pop() as VolantError
        assert.equal(error.code, 'E_BAD_OPTION')
        assert.ok(error.message.includes(name))
      })
    })
  }

  test('repeated fields are one list', async () => {
    const app = kit.app()
    app.get('/x', (ctx) => ({ chosen: ctx.accepts('json', 'html') }))
    await kit.serve(app, async (live) => {
      const reply = await live.ask('/x', {
        headers: { accept: 'application/json;q=0.5', Accept: 'text/html' },
      })
      assert.deepEqual(reply.json(), { chosen: 'html' })
    })
  })
})

describe('queryAll', () => {
  test('gives every value, decoded, in order', async () => {
    const app = kit.app()
    app.get('/x', (ctx) => ({
      a: ctx.queryAll('a'),
      none: ctx.queryAll('none'),
      proto: ctx.queryAll('__proto__'),
    }))
    await kit.serve(app, async (live) => {
      const ask = async (query: string) => (await live.ask(`/x?${query}`)).json()
      assert.deepEqual(await ask('a=1'), { a: ['1'], none: [], proto: [] })
      assert.deepEqual(await ask('a=2&b=0&a=%31+x&a'), { a: ['2', '1 x', ''], none: [], proto: [] })
      assert.deepEqual(await ask('__proto__=1&__proto__=2'), { a: [], none: [], proto: ['1', '2'] })
    })
  })

  test('keeps to maxQueryKeys, and to what was sent where a schema changed it', async () => {
    const app = kit.app({ limits: { maxQueryKeys: 2 } })
    const counted = z.object({ a: z.array(z.string()).transform((values) => values.length) })
    app.get('/x', { query: counted }, (ctx) => ({ a: ctx.query.a, all: ctx.queryAll('a') }))
    app.get('/y', (ctx) => ctx.queryAll('a'))
    await kit.serve(app, async (live) => {
      assert.deepEqual((await live.ask('/x?a=7&a=8')).json(), { a: 2, all: ['7', '8'] })
      assert.equal((await live.ask('/y?a=7&a=8&a=9')).status, 400)
    })
  })
})
