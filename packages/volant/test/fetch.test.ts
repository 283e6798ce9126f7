import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { VolantError } from 'volant'
import { deferred, eventually, Kit, within } from './kit.ts'

const base = 'http://app.example'

function upload(chunks: string[], onCancel: () => void = () => {}): ReadableStream<Uint8Array> {
  const rest = chunks.map((text) => Buffer.from(text))
  return new ReadableStream({
    pull(controller) {
      const chunk = rest.shift()
      if (chunk === undefined) controller.close()
      else controller.enqueue(chunk)
    },
    cancel: onCancel,
  })
}

function post(path: string, body: NonNullable<RequestInit['body']>, more: RequestInit = {}): Request {
  return new Request(base + path, { method: 'POST', body, duplex: 'half', ...more } as RequestInit)
}

const kit = new Kit()

describe('app.fetch', () => {
  test('answers a Request with a Response', async () => {
    const app = kit.app()
    app.use((ctx, next) => {
      ctx.append('set-cookie', 'a=1').append('set-cookie', 'b=2')
      return next()
    })
    app.get('/u/:id', ({ params, query, host, protocol, ip, url, headers, request }) => {
      return { params, query, host, protocol, ip, url, agent: headers['x-agent'], full: request.url }
    })
    const { fetch } = app
    const request = new Request('https://app.example:8443/u/7?a=1&a=2#x', { headers: { 'x-agent': 'me' } })
    const response = await fetch(request)
    assert.ok(response instanceof Response)
    assert.equal(response.status, 200)
    assert.equal(response.statusText, 'OK')
    assert.match(response.headers.get('content-type') ?? '', /^application\/json/)
    assert.deepEqual(response.headers.getSetCookie(), ['a=1', 'b=2'])
    assert.deepEqual(await response.json(), {
      params: { id: '7' },
      query: { a: ['1', '2'] },
      host: 'app.example:8443',
      protocol: 'https',
      ip: '',
      url: '/u/7?a=1&a=2',
      agent: 'me',
      full: 'https://app.example:8443/u/7?a=1&a=2',
    })
  })

  test('errors, misses and limits are those of a socket', async () => {
    const app = kit.app({ limits: { maxBodySize: 10, maxHeaders: 10 } })
    app.get('/boom', () => {
      throw new Error('secret')
    })
    app.post('/b', (ctx) => ctx.bodyText.length)
    const ask = async (request: Request) => {
      const response = await app.fetch(request)
      return [response.status, ((await response.json()) as { code?: string }).code]
    }
    assert.deepEqual(await ask(new Request(`${base}/boom`)), [500, undefined])
    assert.deepEqual(await ask(new Request(`${base}/none`)), [404, 'E_NOT_FOUND'])
    assert.deepEqual(await ask(new Request(`${base}/b`)), [405, 'E_METHOD_NOT_ALLOWED'])
    assert.deepEqual(await ask(new Request(`${base}/${'x'.repeat(9_000)}`)), [414, 'E_TARGET_TOO_LONG'])
    assert.deepEqual(await ask(post('/b', 'x'.repeat(11))), [413, 'E_BODY_TOO_LARGE'])
    assert.deepEqual(await ask(post('/b', upload(['x'.repeat(6), 'x'.repeat(6)]))), [413, 'E_BODY_TOO_LARGE'])
    assert.equal(await (await app.fetch(post('/b', upload(['x'.repeat(6), 'x'.repeat(4)])))).json(), 10)
    const headers = Object.fromEntries(Array.from({ length: 11 }, (_, at) => [`x-${at}`, '1']))
    assert.deepEqual(await ask(new Request(`${base}/b`, { headers })), [431, 'E_TOO_MANY_FIELDS'])
    assert.equal((await app.fetch(new Request(`${base}/b`, { method: 'OPTIONS' }))).status, 204)
  })

  test('HEAD, 204, 205 and 304 have no body', async () => {
    const app = kit.app()
    app.get('/text', () => 'hello')
    app.get('/stream', (ctx) => ctx.stream(['hel', 'lo'], { length: 5 }))
    app.get('/:status', (ctx) => ctx.reply(Number(ctx.params.status), 'hello'))
    app.get('/stream/:status', (ctx) => ctx.stream(['hello'], { status: Number(ctx.params.status) }))
    for (const path of ['/text', '/stream']) {
      const response = await app.fetch(new Request(base + path, { method: 'HEAD' }))
      assert.equal(response.body, null)
      assert.equal(response.headers.get('content-length'), '5')
    }
    for (const status of [204, 205, 304]) {
      for (const path of ['', '/stream']) {
        const response = await app.fetch(new Request(`${base}${path}/${status}`))
        assert.equal(response.status, status)
        assert.equal(response.body, null, `${path}/${status}`)
      }
    }
  })

  test('bodies: JSON, a form, a stream, none, and one that nobody reads', async () => {
    const app = kit.app()
    let cancelled = 0
    app.post('/b', (ctx) => ({ body: ctx.body }))
    app.post('/s', { bodyMode: 'stream' }, async (ctx) => (await new Response(ctx.bodyStream).text()).length)
    app.post('/unread', { bodyMode: 'stream' }, () => 'no')
    const json = async (request: Request): Promise<unknown> => (await app.fetch(request)).json()
    const type = { headers: { 'content-type': 'application/json' } }
    assert.deepEqual(await json(post('/b', '{"a":1}', type)), { body: { a: 1 } })
    assert.deepEqual(await json(post('/b', upload(['{"a"', ':1}']), type)), { body: { a: 1 } })
    assert.deepEqual(await json(post('/b', new URLSearchParams({ a: '1' }))), { body: { a: '1' } })
    assert.deepEqual(await json(new Request(`${base}/b`, { method: 'POST' })), {})
    assert.equal(await json(post('/s', upload(['abc', '', 'x'.repeat(300_000)]))), 300_003)
    const unread = post(
      '/unread',
      upload(['abc', 'abc'], () => void cancelled++),
    )
    assert.equal(await (await app.fetch(unread)).text(), 'no')
    await app.fetch(
      post(
        '/none',
        upload(['abc', 'abc'], () => void cancelled++),
      ),
    )
    await eventually(() => cancelled === 2, 'the bodies are cancelled')
  })

  test('a body past the limit of a stream route fails its stream', async () => {
    const app = kit.app()
    app.post(
      '/s',
      { bodyMode: 'stream', maxBodySize: 5 },
      async (ctx) => (await new Response(ctx.bodyStream).text()).length,
    )
    assert.equal((await app.fetch(post('/s', upload(['abc', 'abc'])))).status, 413)
  })

  test('a body that fails ends the request', async () => {
    const app = kit.app()
    const gone = deferred()
    app.post('/s', { bodyMode: 'stream' }, async (ctx) => {
      ctx.signal.addEventListener('abort', () => gone.resolve())
      await new Response(ctx.bodyStream).text()
    })
    app.post('/b', () => assert.fail('the handler ran'))
    for (const path of ['/s', '/b']) {
      const body = new ReadableStream({ pull: () => Promise.reject(new Error('disk')) })
      await assert.rejects(app.fetch(post(path, body)), /disk/)
    }
    await within(gone.promise, 'the signal')
  })

  test('a reply is streamed no faster than it is read', async () => {
    const app = kit.app()
    let given = 0
    let cleaned = false
    app.get('/s', async function* () {
      try {
        for (; given < 1_000; given++) yield Buffer.alloc(16_384, 1)
      } finally {
        cleaned = true
      }
    })
    const response = await app.fetch(new Request(`${base}/s`))
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    await reader.read()
    await eventually(() => given > 2, 'the first chunks')
    for (let turns = 0; turns < 20; turns++) await new Promise(setImmediate)
    assert.ok(given < 20, `${given} chunks were made ahead`)
    await reader.cancel()
    await eventually(() => cleaned, 'the generator ends')
    assert.ok(given < 20)
  })

  test('a long stream arrives whole', async () => {
    const app = kit.app()
    app.get('/s', async function* () {
      for (let at = 0; at < 100; at++) yield Buffer.alloc(10_000, at)
    })
    const bytes = Buffer.from(await (await app.fetch(new Request(`${base}/s`))).arrayBuffer())
    assert.equal(bytes.length, 1_000_000)
    for (let at = 0; at < 100; at++) assert.equal(bytes[at * 10_000], at)
  })

  test('cancelling the body is the client that leaves', async () => {
    const app = kit.app()
    const gone = deferred()
    app.get('/s', (ctx) => {
      ctx.signal.addEventListener('abort', () => gone.resolve())
      ctx.stream(new ReadableStream({ start: (controller) => controller.enqueue('first') }))
    })
    const response = await app.fetch(new Request(`${base}/s`))
    await (response.body as ReadableStream).cancel()
    await within(gone.promise, 'the signal')
  })

  test('request.signal is the client that leaves', async () => {
    const app = kit.app()
    const gone = deferred()
    const entered = deferred()
    app.get('/wait', async (ctx) => {
      ctx.signal.addEventListener('abort', () => gone.resolve())
      entered.resolve()
      await gone.promise
    })
    const controller = new AbortController()
    const pending = app.fetch(new Request(`${base}/wait`, { signal: controller.signal }))
    await entered.promise
    controller.abort(new Error('bored'))
    await assert.rejects(pending, /bored/)
    await within(gone.promise, 'the signal')
    let ran = false
    app.get('/never', () => {
      ran = true
    })
    await assert.rejects(
      app.fetch(new Request(`${base}/never`, { signal: AbortSignal.abort(new Error('early')) })),
      /early/,
    )
    assert.equal(ran, false)
  })

  test('a source that fails fails the body', async () => {
    const app = kit.app()
    app.get('/s', async function* () {
      yield 'first'
      throw new Error('disk')
    })
    app.get('/short', (ctx) => ctx.stream(['ab'], { length: 5 }))
    const response = await app.fetch(new Request(`${base}/s`))
    await assert.rejects(response.text(), (error: VolantError) => error.code === 'E_RESET')
    const short = await app.fetch(new Request(`${base}/short`))
    await assert.rejects(short.text(), (error: VolantError) => error.code === 'E_RESET')
    kit.reports.length = 0
  })

  test('an app can hand a request on to another', async () => {
    const inner = kit.app()
    inner.post('/x', (ctx) => ctx.cookie('a', '1').json({ got: ctx.body }, 201))
    const outer = kit.app()
    outer.post('/x', { bodyMode: 'stream' }, (ctx) => inner.fetch(ctx.request))
    await kit.serve(outer, async (live) => {
      const reply = await live.post('/x', 'application/json', '{"a":1}')
      assert.equal(reply.status, 201)
      assert.deepEqual(reply.json(), { got: { a: 1 } })
      assert.match(reply.headers['set-cookie'] ?? '', /^a=1;/)
    })
  })

  test('plugins and onStart hooks are waited for', async () => {
    const app = kit.app()
    app.register(async (scope) => {
      await new Promise(setImmediate)
      scope.get('/late', () => 'now')
    })
    assert.equal(await (await app.fetch(new Request(`${base}/late`))).text(), 'now')
  })

  test('what is no Request, or was read, is refused', async () => {
    const app = kit.app()
    for (const value of [undefined, null, 5, '/x', {}, new URL(base)]) {
      await assert.rejects(
        app.fetch(value as unknown as Request),
        (error: VolantError) => error.code === 'E_BAD_OPTION' && error.message.includes('Request'),
      )
    }
    const read = post('/x', 'a')
    await read.text()
    await assert.rejects(app.fetch(read), (error: VolantError) => error.code === 'E_BODY_USED')
  })
})
