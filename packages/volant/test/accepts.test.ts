import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Context, VolantError } from 'volant'
import { z } from 'zod'
import { Kit } from './kit.ts'

type Row = [header: string | null, offers: string[], expected: string | false]

// RFC 9110 §12.5.1
const many =
  'text/*;q=0.3, text/plain;q=0.7, text/plain;format=flowed, text/plain;format=fixed;q=0.4, */*;q=0.5'

const types: Row[] = [
  [null, ['json', 'html'], 'json'],
  ['', ['json'], 'json'],
  ['*/*', ['json', 'html'], 'json'],
  ['text/html', ['json', 'html'], 'html'],
  ['text/html', ['json'], false],
  ['audio/*; q=0.2, audio/basic', ['audio/mpeg', 'audio/basic'], 'audio/basic'],
  ['audio/*; q=0.2, audio/basic', ['audio/mpeg'], 'audio/mpeg'],
  ['text/plain; q=0.5, text/html, text/x-dvi; q=0.8, text/x-c', ['text/x-dvi', 'text/x-c', 'html'], 'html'],
  ['text/plain; q=0.5, text/html, text/x-dvi; q=0.8, text/x-c', ['text', 'text/x-dvi'], 'text/x-dvi'],
  [many, ['text/plain;format=fixed', 'text/html', 'image/jpeg'], 'image/jpeg'],
  [many, ['text/plain;format=fixed', 'text/html'], 'text/plain;format=fixed'],
  [many, ['image/jpeg', 'text/plain'], 'text/plain'],
  [many, ['text/plain', 'text/plain;format=flowed'], 'text/plain;format=flowed'],
  ['application/json, text/plain, */*', ['html', 'json'], 'json'],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', ['json', 'html'], 'html'],
  ['text/html, application/json', ['json', 'html'], 'html'],
  ['text/html;q=0, */*', ['html', 'json'], 'json'],
  ['text/html;q=0, */*', ['html'], false],
  ['*/*;q=0', ['html', 'json'], false],
  ['text/*;q=0, text/html', ['text', 'html'], 'html'],
  ['TEXT/HTML;Q=0.5', ['html'], 'html'],
  ['text/html;level="1"', ['text/html;level=1'], 'text/html;level=1'],
  ['text/html;level=1', ['html'], false],
  ['text/html;a=",";q=0.1, application/json;q=0.2', ['text/html;a=","', 'json'], 'json'],
  ['text/html ; q=0.1 ;x=1 , application/json;q=0.2', ['html', 'json'], 'json'],
  ['text/html;, ,application/json;q=0.5', ['json', 'html'], 'html'],
  ['application/json;q=0.5', ['application/problem+json', 'application/json'], 'application/json'],
  // What is malformed is left out; nothing left is nothing asked for.
  ['text/html;q=2, application/json;q=0.1', ['html', 'json'], 'json'],
  ['text/html;q=0.1234, application/json;q=0.1', ['html', 'json'], 'json'],
  ['text/html;q=-1, application/json;q=0.1', ['html', 'json'], 'json'],
  ['text/html;q=NaN, application/json;q=0.1', ['html', 'json'], 'json'],
  ['text/html;q', ['html', 'json'], 'html'],
  ['/', ['html'], 'html'],
  ['a/b/c', ['html'], 'html'],
  ['text/html;a="', ['html'], 'html'],
  ['"'.repeat(7_000), ['html'], 'html'],
  [','.repeat(7_000), ['html'], 'html'],
  [';'.repeat(7_000), ['html'], 'html'],
  [' '.repeat(3_000) + ';'.repeat(3_000) + 'x', ['html'], 'html'],
  [`${'a/b,'.repeat(2_000)}text/html`, ['html'], false],
]

const languages: Row[] = [
  [null, ['de', 'en'], 'de'],
  ['da, en-gb;q=0.8, en;q=0.7', ['en-US', 'en-GB'], 'en-GB'],
  ['da, en-gb;q=0.8, en;q=0.7', ['en-US', 'de'], 'en-US'],
  ['da, en-gb;q=0.8, en;q=0.7', ['de'], false],
  ['en-GB', ['en'], 'en'],
  ['en-GB', ['en-US'], false],
  ['en', ['en-US'], 'en-US'],
  ['e', ['en'], false],
  ['de-CH, de;q=0.5', ['de', 'de-CH'], 'de-CH'],
  ['zh-Hant-TW', ['zh', 'zh-Hant'], 'zh-Hant'],
  ['en-US;q=0, *', ['en-US', 'fr'], 'fr'],
  ['en;q=0, *', ['en-GB', 'fr'], 'fr'],
  ['*', ['fr', 'en'], 'fr'],
  ['fr;q=0.5, EN', ['fr', 'en'], 'en'],
  ['fr, en', ['en', 'fr'], 'fr'],
]

const encodings: Row[] = [
  [null, ['br', 'gzip'], 'br'],
  ['', ['br', 'identity'], 'identity'],
  ['', ['br'], false],
  ['gzip, deflate, br', ['br', 'gzip', 'identity'], 'br'],
  ['gzip;q=1.0, identity; q=0.5, *;q=0', ['br', 'gzip', 'identity'], 'gzip'],
  ['gzip;q=1.0, identity; q=0.5, *;q=0', ['br', 'identity'], 'identity'],
  ['compress;q=0.5, gzip;q=1.0', ['compress', 'gzip'], 'gzip'],
  ['*', ['br', 'identity'], 'br'],
  ['gzip', ['br', 'identity'], 'identity'],
  ['gzip', ['br'], false],
  ['identity;q=0', ['br', 'identity'], false],
  ['*;q=0', ['identity'], false],
  ['x-gzip', ['gzip'], 'gzip'],
  ['GZIP;q=0.001', ['gzip', 'identity'], 'gzip'],
  ['identity, gzip;q=0', ['gzip', 'identity'], 'identity'],
]

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
