import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'
import type { App, InjectOptions, VolantError } from 'volant'
import { deferred, Kit, within } from './kit.ts'

const kit = new Kit()

function build(): App {
  const app = kit.app()
  app.post('/b', (ctx) => ({ body: ctx.body }))
  return app
}

describe('inject', () => {
  test('objects are sent as JSON', async () => {
    const reply = await build().inject({ url: '/b', method: 'POST', body: { a: [1] } })
    assert.deepEqual(reply.json(), { body: { a: [1] } })
  })

  test('query, headers, cookies, address and version', async () => {
    const app = kit.app({ trustProxy: 'private' })
    app.get('/x', ({ query, cookies, ip, host, httpVersion, headers }) => {
      return { query, cookies, ip, host, httpVersion, many: headers['x-many'] }
    })
    const reply = await app.inject({
      method: 'get',
      url: '/x?a=1',
      query: { b: ['2', 3], c: 'x y&', d: undefined, e: false },
      headers: {
        host: 'app.example',
        'X-Many': ['1', '2'],
        'x-forwarded-for': '9.9.9.9',
        cookie: 'first=1',
      },
      cookies: { second: 'ü;' },
      remoteAddress: '10.0.0.1',
      httpVersion: '1.0',
    })
    assert.deepEqual(reply.json(), {
      query: { a: '1', b: ['2', '3'], c: 'x y&', e: 'false' },
      cookies: { first: '1', second: 'ü;' },
      ip: '9.9.9.9',
      host: 'app.example',
      httpVersion: '1.0',
      many: '1, 2',
    })
    const searched = await app.inject({ url: '/x', query: new URLSearchParams('a=1&a=2') })
    assert.deepEqual(searched.json<{ query: object }>().query, { a: ['1', '2'] })
  })

  test('the reply has its phrase, its cookies and its body in three shapes', async () => {
    const app = kit.app()
    app.get('/x', (ctx) => ctx.cookie('a', 'ü', { maxAge: 60 }).append('set-cookie', 'b=2').json([1], 201))
    const reply = await app.inject('/x')
    assert.equal(reply.statusText, 'Created')
    assert.deepEqual(reply.cookies, [
      { name: 'a', value: 'ü', maxAge: 60, path: '/', httpOnly: true, sameSite: 'lax' },
      { name: 'b', value: '2' },
    ])
    assert.equal(reply.headers['set-cookie']?.length, 2)
    assert.deepEqual([reply.body.toString(), reply.text(), reply.json()], ['[1]', '[1]', [1]])
    assert.deepEqual(reply.informational, [])
  })

  const bodies: [string, () => unknown, string, string | undefined][] = [
    ['an object', () => ({ a: 1 }), '{"a":1}', 'application/json'],
    ['an array', () => [1], '[1]', 'application/json'],
    ['null', () => null, 'null', 'application/json'],
    ['a number', () => 5, '5', 'application/json'],
    ['a string', () => 'ü', 'ü', undefined],
    ['bytes', () => Buffer.from('ü'), 'ü', undefined],
    ['an ArrayBuffer', () => new Uint8Array([0x61]).buffer, 'a', undefined],
    [
      'URLSearchParams',
      () => new URLSearchParams({ a: 'x y' }),
      'a=x+y',
      'application/x-www-form-urlencoded;charset=UTF-8',
    ],
    ['a Blob', () => new Blob(['a'], { type: 'text/csv' }), 'a', 'text/csv'],
    ['a web stream', () => new Blob(['abc']).stream(), 'abc', undefined],
    ['a Node.js stream', () => Readable.from(['a', 'b']), 'ab', undefined],
    [
      'a generator',
      () =>
        (function* () {
          yield 'a'
          yield Buffer.from('b')
        })(),
      'ab',
      undefined,
    ],
  ]
  for (const [name, body, text, type] of bodies) {
    test(`the body may be ${name}`, async () => {
      const app = kit.app()
      app.post('/b', (ctx) => ({ text: ctx.bodyText, type: ctx.headers['content-type'] }))
      app.post('/s', { bodyMode: 'stream' }, async (ctx) => {
        return { text: await new Response(ctx.bodyStream).text(), type: ctx.headers['content-type'] }
      })
      const expected = type === undefined ? { text } : { text, type }
      for (const url of ['/b', '/s']) {
        assert.deepEqual((await app.inject({ method: 'POST', url, body: body() })).json(), expected)
      }
      const mine = await app.inject({
        method: 'POST',
        url: '/b',
        body: body(),
        headers: { 'Content-Type': 'x/y' },
      })
      assert.equal(mine.json<{ type: string }>().type, 'x/y')
    })
  }

  test('a form with files is sent as multipart', async () => {
    const app = kit.app()
    app.post('/b', (ctx) => [ctx.headers['content-type']?.split(';')[0], ctx.bodyText.includes('name="a"')])
    const body = new FormData()
    body.set('a', new Blob(['x']), 'x.txt')
    assert.deepEqual((await app.inject({ method: 'POST', url: '/b', body })).json(), [
      'multipart/form-data',
      true,
    ])
  })

  test('signal is the client that leaves', async () => {
    const app = kit.app()
    const gone = deferred()
    const controller = new AbortController()
    app.get('/wait', async (ctx) => {
      ctx.signal.addEventListener('abort', () => gone.resolve())
      controller.abort(new Error('bored'))
      await gone.promise
    })
    await assert.rejects(app.inject({ url: '/wait', signal: controller.signal }), /bored/)
    await within(gone.promise, 'the signal')
  })

  test('a signal that is aborted before leaves no body open', async () => {
    const body = Readable.from(['x'])
    const signal = AbortSignal.abort(new Error('bored'))
    await assert.rejects(build().inject({ url: '/b', method: 'POST', body, signal }), /bored/)
    assert.ok(body.destroyed)
  })

  test('headers may be a Headers, and a body any view of bytes', async () => {
    const headers = new Headers({ 'content-type': 'application/octet-stream' })
    const app = kit.app()
    app.post('/x', ({ bodyBytes, headers: { 'content-type': type } }) => [type, [...bodyBytes]])
    const bytes = Uint8Array.of(9, 1, 2, 3, 4, 9).buffer
    const reply = await app.inject({ url: '/x', method: 'POST', headers, body: new DataView(bytes, 1, 4) })
    assert.deepEqual(reply.json(), ['application/octet-stream', [1, 2, 3, 4]])
  })

  const circular: Record<string, unknown> = {}
  circular['self'] = circular
  const refused: [string, unknown][] = [
    ['inject', undefined],
    ['inject', 5],
    ['inject: url', {}],
    ['inject: url', { url: '' }],
    ['inject: url', { url: 5 }],
    ['inject has no option "payload"; did you mean "body"?', { url: '/', payload: 'x' }],
    ['inject: method', { url: '/', method: '' }],
    ['inject: method', { url: '/', method: 'GET /' }],
    ['inject: method', { url: '/', method: 5 }],
    ['inject: query', { url: '/', query: 'a=1' }],
    ['inject: query.a', { url: '/', query: { a: {} } }],
    ['inject: query.a', { url: '/', query: { a: [null] } }],
    ['inject: headers', { url: '/', headers: [['a', 'b']] }],
    ['inject: headers', { url: '/', headers: 'a: b' }],
    ['inject: headers', { url: '/', headers: new Map([['a', 'b']]) }],
    ['inject: query', { url: '/', query: [['a', 'b']] }],
    ['inject: cookies', { url: '/', cookies: new Map([['a', 'b']]) }],
    ['inject: headers.a', { url: '/', headers: { a: 5 } }],
    ['inject: headers.a', { url: '/', headers: { a: 'x\r\ny: z' } }],
    ['inject: headers."a b"', { url: '/', headers: { 'a b': 'x' } }],
    ['inject: cookies', { url: '/', cookies: 'a=b' }],
    ['inject: cookies.a', { url: '/', cookies: { a: 5 } }],
    ['inject: cookies', { url: '/', cookies: { 'a=b': 'c' } }],
    ['inject: body', { url: '/', body: circular }],
    ['inject: body', { url: '/', body: () => 1 }],
    ['inject: remoteAddress', { url: '/', remoteAddress: 'localhost' }],
    ['inject: httpVersion', { url: '/', httpVersion: '2' }],
    ['inject: signal', { url: '/', signal: {} }],
  ]
  test('options that make no sense are refused by name', async () => {
    const app = kit.app()
    for (const [name, options] of refused) {
      await assert.rejects(
        app.inject(options as InjectOptions),
        (error: VolantError) => error.code === 'E_BAD_OPTION' && error.message.startsWith(name),
        name,
      )
    }
  })

  test('a path alone is a GET, and routes may be added after', async () => {
    const app = kit.app()
    assert.equal((await app.inject('/later')).status, 404)
    app.get('/later', () => 'now')
    assert.equal((await app.inject('/later')).text(), 'now')
  })
})
