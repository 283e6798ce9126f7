import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Context, type VolantError } from 'volant'
import { Kit } from '../kit.ts'

const kit = new Kit()

describe('messages', () => {
  const seconds: [RegExp, (ctx: Context) => unknown][] = [
    [
      /^a handler or middleware of GET \/:n returned an object after the request had its reply: either/,
      () => ({}),
    ],
    [/^a handler or middleware of GET \/:n returned "text" after/, () => 'text'],
    [/^ctx\.json was called after GET \/:n had its reply/, (ctx) => ctx.json(1)],
    [/^ctx\.text was called/, (ctx) => ctx.text('')],
    [/^ctx\.html was called/, (ctx) => ctx.html('')],
    [/^ctx\.bytes was called/, (ctx) => ctx.bytes(new Uint8Array(1))],
    [/^ctx\.reply was called/, (ctx) => ctx.reply(200)],
    [/^ctx\.reply was called/, (ctx) => ctx.reply(200, 'x')],
    [/^ctx\.redirect was called/, (ctx) => ctx.redirect('/')],
    [/^ctx\.stream was called/, (ctx) => ctx.stream(['x'])],
    [/^ctx\.file was called/, (ctx) => ctx.file('package.json')],
  ]

  test('a second reply is named', async () => {
    const app = kit.app()
    app.get('/:n', (ctx) => {
      ctx.text('first')
      return seconds[Number(ctx.params.n)]?.[1](ctx as unknown as Context)
    })
    await kit.serve(app, async (live) => {
      for (const [index, [message]] of seconds.entries()) {
        assert.equal((await live.ask(`/${index}`)).text, 'first')
        const error = kit.reports.pop() as VolantError
        assert.equal(error.code, 'E_ALREADY_REPLIED')
        assert.match(error.message, message)
      }
    })
  })

  const mistakes: [string, RegExp, (ctx: Context) => unknown][] = [
    [
      'E_NOT_SERIALISABLE',
      /^the reply of GET \/:n cannot be written as JSON: it is undefined; ctx\.reply\(204\)/,
      (ctx) => ctx.json(undefined),
    ],
    [
      'E_BAD_STATUS',
      /^a redirect has status 301, .*, not "302"$/,
      (ctx) => ctx.redirect('/', '302' as never),
    ],
    [
      'E_BAD_OPTION',
      /^length takes a number of bytes, not "3"$/,
      (ctx) => ctx.stream([], { length: '3' } as never),
    ],
    [
      'E_BAD_HEADER',
      /^the value of header x is undefined: it takes a string or a number$/,
      (ctx) => ctx.header('x', undefined as never),
    ],
    [
      'E_BAD_HEADER',
      /^the value of header x has the character "\\n" \(U\+000A\), which cannot be sent: .*encodeURIComponent/,
      (ctx) => ctx.header('x', 'a\nb'),
    ],
    [
      'E_NOT_SERIALISABLE',
      /^ctx\.bytes takes a Buffer or another Uint8Array, not "x", in GET \/:n$/,
      (ctx) => ctx.bytes('x' as never),
    ],
    [
      'E_NOT_SERIALISABLE',
      /^ctx\.stream takes a stream, a generator or an array of chunks, not an object$/,
      (ctx) => ctx.stream({} as never),
    ],
    ['E_BAD_HEADER', /^the header x is longer than /, (ctx) => ctx.header('x', 'y'.repeat(100_000))],
    ['E_BAD_HEADER', /the character "😀" \(U\+1F600\)/, (ctx) => ctx.append('x', 'a😀')],
    ['E_BAD_STATUS', /, not "201"$/, (ctx) => ctx.status('201' as never)],
    [
      'E_BAD_STATUS',
      /, not an object: write ctx\.json\(value, status\) or ctx\.reply\(status, value\)$/,
      (ctx) => ctx.json(201, {} as never),
    ],
    ['E_BAD_STATUS', /, not an object: write ctx\.json/, (ctx) => ctx.reply({} as never, 201)],
    [
      'E_BAD_HEADER',
      /^an object is not a header name: write ctx\.header\(name, value\) for each header$/,
      (ctx) => ctx.header({ x: 'y' } as never, undefined as never),
    ],
    ['E_BAD_HEADER', /^"a b" is not a header name$/, (ctx) => ctx.header('a b', 'c')],
    [
      'E_BAD_COOKIE',
      /^the cookie "a" has no option "maxage"; did you mean "maxAge"\?/,
      (ctx) => ctx.cookie('a', 'b', { maxage: 1 } as never),
    ],
  ]

  test('what cannot be sent is named', async () => {
    const app = kit.app()
    app.get('/:n', (ctx) => void mistakes[Number(ctx.params.n)]?.[2](ctx as unknown as Context))
    await kit.serve(app, async (live) => {
      for (const [index, [code, message]] of mistakes.entries()) {
        assert.equal((await live.ask(`/${index}`)).status, 500)
        const error = kit.reports.pop() as VolantError
        assert.equal(error.code, code)
        assert.match(error.message, message)
        assert.equal(Object.hasOwn(error, 'cause'), false)
      }
    })
  })

  test('ctx.status is called, and cannot be assigned', async () => {
    const app = kit.app()
    app.get('/', (ctx) => {
      Object.assign(ctx, { status: 201 })
      return 'made'
    })
    await kit.serve(app, async (live) => {
      assert.equal((await live.ask('/')).status, 500)
      assert.match((kit.reports.pop() as Error).message, /^Cannot assign to read only property 'status' of /)
    })
  })
})
