import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'
import { createGzip, gunzipSync } from 'node:zlib'
import { procedure } from '../src/procedures/index.ts'
import {
  type App,
  type Chunk,
  type Context,
  HTTPError,
  middleware,
  type OutgoingReply,
  type SendHook,
  type VolantError,
} from '../src/index.ts'
import { deferred, eventually, Kit } from './kit.ts'

const kit = new Kit()

/** Gives the messages that were reported since the last call. */
function reported(): string[] {
  return kit.reports.splice(0).map((error) => (error as Error).message)
}

/** Gives a source, and what became of it. */
function source(chunks: readonly Chunk[]): { stream: AsyncIterableIterator<Chunk>; ended: () => number } {
  let ended = 0
  let at = 0
  const stream: AsyncIterableIterator<Chunk> = {
    next: async () => {
      const value = chunks[at++]
      return value === undefined ? { done: true, value } : { done: false, value }
    },
    return: async () => {
      ended++
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]: () => stream,
  }
  return { stream, ended: () => ended }
}

async function textOf(body: OutgoingReply['body']): Promise<string> {
  if (body === null || typeof body === 'string') return body ?? ''
  if (body instanceof Uint8Array) return Buffer.from(body).toString()
  let text = ''
  for await (const chunk of body) text += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()
  return text
}

describe('onSend in four lines', () => {
  test('a response-time header', async () => {
    const app = kit.app()
    const begun = new WeakMap<Context, number>()
    app.use((ctx, next) => (begun.set(ctx, performance.now()), next()))
    app.onSend((ctx, { headers }) =>
      headers.set('x-response-time', (performance.now() - (begun.get(ctx) ?? 0)).toFixed(3)),
    )
    app.get('/x', () => new Promise((resolve) => setTimeout(resolve, 5, 'late')))
    const { headers, body } = await app.inject('/x')
    assert.ok(Number(headers['x-response-time']) >= 4)
    assert.equal(body.toString(), 'late')
    assert.ok(Number((await app.inject('/none')).headers['x-response-time']) >= 0)
  })

  test('cache-control by status', async () => {
    const app = kit.app()
    app.onSend((_, { status, headers }) =>
      headers.set('cache-control', status < 300 ? 'max-age=60' : 'no-store'),
    )
    app.get('/x', () => 'x')
    app.get('/bad', () => {
      throw new HTTPError(409, 'conflict')
    })
    const seen = async (url: string) => (await app.inject(url)).headers['cache-control']
    assert.deepEqual(await Promise.all(['/x', '/bad', '/none'].map(seen)), [
      'max-age=60',
      'no-store',
      'no-store',
    ])
  })

  test('an envelope around the body', async () => {
    const app = kit.app()
    app.onSend((_, reply) => {
      if (reply.headers.get('content-type')?.startsWith('application/json') !== true) return
      reply.body = `{"status":${reply.status},"data":${String(reply.body)}}`
    })
    app.get('/x', () => ({ a: 1 }))
    app.get('/text', () => 'text')
    assert.deepEqual((await app.inject('/x')).json(), { status: 200, data: { a: 1 } })
    assert.equal((await app.inject('/text')).text(), 'text')
    assert.equal(
      (await app.inject('/none')).headers['content-type'],
      'application/problem+json; charset=utf-8',
    )
  })

  test('a 500 when it throws, which no hook sees', async () => {
    const app = kit.app()
    let seen = 0
    app.onSend(() => void seen++)
    app.onSend((ctx) => {
      if (ctx.path === '/teapot') throw new HTTPError(418, 'short', { headers: { 'x-tea': 'yes' } })
      throw new Error('hook')
    })
    app.get('/x', (ctx) => ctx.header('etag', '"a"').text('x'))
    app.get('/teapot', () => 'x')
    const reply = await app.inject('/x')
    assert.deepEqual([reply.status, reply.headers['etag']], [500, undefined])
    assert.deepEqual(reported(), ['hook'])
    const teapot = await app.inject('/teapot')
    assert.deepEqual([teapot.status, teapot.headers['x-tea']], [418, 'yes'])
    assert.equal((await app.inject('/none')).status, 500)
    assert.deepEqual([seen, reported()], [0, ['hook']])
  })
})

describe('an onSend hook', () => {
  test('sees every kind of reply as it will be sent', async () => {
    const app = kit.app()
    const seen: unknown[] = []
    app.onSend(async (_, reply) => {
      const { status, body, length, headers } = reply
      const kind =
        body === null || typeof body === 'string' ? body : body instanceof Uint8Array ? [...body] : 'stream'
      seen.push([status, headers.get('Content-Type')?.split(';')[0], kind, length])
    })
    app.get('/json', () => ({ ü: 1 }))
    app.get('/text', (ctx) => ctx.text('ü', 201))
    app.get('/bytes', () => new Uint8Array([1, 2]))
    app.get('/typed', (ctx) => (ctx.header('Content-Type', 'image/png'), new Uint8Array([1])))
    app.get('/empty', () => null)
    app.get('/redirect', (ctx) => ctx.redirect('/x'))
    app.get('/response', () => new Response(null, { status: 202 }))
    app.get('/blob', () => new Blob(['abc'], { type: 'text/css' }))
    app.get('/stream', (ctx) => ctx.stream(['a'], { length: 1, type: null }))
    app.get('/generated', async function* () {
      yield 'a'
    })
    const paths = [
      'json',
      'text',
      'bytes',
      'typed',
      'empty',
      'redirect',
      'response',
      'blob',
      'stream',
      'generated',
    ]
    for (const path of paths) await app.inject(`/${path}`)
    assert.deepEqual(seen, [
      [200, 'application/json', '{"ü":1}', 8],
      [201, 'text/plain', 'ü', 2],
      [200, 'application/octet-stream', [1, 2], 2],
      [200, 'image/png', [1], 1],
      [204, undefined, null, 0],
      [302, undefined, null, 0],
      [202, undefined, null, 0],
      [200, 'text/css', 'stream', 3],
      [200, undefined, 'stream', 1],
      [200, 'application/octet-stream', 'stream', undefined],
    ])
  })

  test('changes status and headers, also through the context', async () => {
    const app = kit.app()
    app.onSend((ctx, reply) => {
      assert.equal(ctx.replied, true)
      assert.equal(reply.headers.has('X-OLD'), true)
      reply.headers.delete('x-Old')
      reply.headers.set('x-new', 7)
      reply.headers.append('x-new', '8')
      reply.headers.append('set-cookie', 'a=1')
      ctx.status(202).header('x-ctx', '1').append('x-ctx', '2').cookie('b', '2').clearCookie('c')
      assert.equal(reply.status, 202)
      reply.status = 203
      assert.deepEqual(
        reply.headers.getSetCookie().map((text) => text.split('=')[0]),
        ['z', 'a', 'b', 'c'],
      )
      assert.equal(reply.headers.get('x-new'), '7, 8')
    })
    app.get('/x', (ctx) => ctx.header('X-Old', '1').cookie('z', '0').text('x'))
    const statuses: number[] = []
    app.onResponse((_, { status }) => void statuses.push(status))
    const { status, headers } = await app.inject('/x')
    assert.deepEqual(
      [status, headers['x-old'], headers['x-new'], headers['x-ctx'], headers['set-cookie']?.length],
      [203, undefined, '7, 8', '1, 2', 4],
    )
    assert.deepEqual(statuses, [203])
  })

  test('is refused what a reply may not have, and answers 500 then', async () => {
    const rows: [SendHook, string][] = [
      [(_, reply) => void (reply.status = 101), 'E_BAD_STATUS'],
      [(_, reply) => void (reply.status = 600), 'E_BAD_STATUS'],
      [(_, { headers }) => headers.set('content-length', '1'), 'E_BAD_HEADER'],
      [(_, { headers }) => headers.append('Transfer-Encoding', 'chunked'), 'E_BAD_HEADER'],
      [(_, { headers }) => headers.delete('connection'), 'E_BAD_HEADER'],
      [(_, { headers }) => headers.set('x-a', 'b\r\nc: d'), 'E_BAD_HEADER'],
      [(_, reply) => void (reply.body = { a: 1 } as never), 'E_NOT_SERIALISABLE'],
      [(_, reply) => void (reply.body = undefined as never), 'E_NOT_SERIALISABLE'],
      [(_, reply) => void (reply.length = 3), 'E_BAD_OPTION'],
      [(_, reply) => ((reply.body = ['a']), void (reply.length = -1)), 'E_BAD_OPTION'],
      [(_, reply) => void (reply.body = 'x'.repeat(70_000)), 'E_REPLY_TOO_LARGE'],
      [(() => 'a body') as never, 'E_BAD_HANDLER'],
      [(async () => 'a body') as never, 'E_BAD_HANDLER'],
    ]
    for (const [hook, code] of rows) {
      const app = kit.app({ limits: { maxBufferedReplies: 65_536 } })
      app.onSend(hook)
      app.get('/x', () => 'x')
      const { status, headers } = await app.inject('/x')
      assert.deepEqual(
        [status, headers['content-type']],
        [500, 'application/problem+json; charset=utf-8'],
        code,
      )
      assert.deepEqual(
        kit.reports.splice(0).map((error) => (error as VolantError).code),
        [code],
      )
    }
  })

  test('cannot reply, and is told what to do', async () => {
    const app = kit.app()
    app.onSend((ctx) => void ctx.json({}))
    app.get('/x', () => 'x')
    assert.equal((await app.inject('/x')).text(), 'x')
    assert.deepEqual(reported(), [
      'ctx.json was called after GET /x had its reply, and was dropped: an onSend hook sets reply.body',
    ])
  })

  test('that changes a reply which has left is told so', async () => {
    const app = kit.app()
    let kept: OutgoingReply | null = null
    app.onSend((_, reply) => void (kept = reply))
    app.get('/x', () => 'x')
    await app.inject('/x')
    const reply = kept as unknown as OutgoingReply
    reply.body = 'late'
    reply.headers.set('x-late', '1')
    reply.headers.delete('x-late')
    assert.equal(reported().filter((text) => text.includes('had its reply, and was dropped')).length, 3)
  })

  test('sees a reply that is too long, and may make it fit', async () => {
    const app = kit.app({ limits: { maxBufferedReplies: 65_536 } })
    app
      .with(middleware({ onSend: (_, reply) => void (reply.body = 'short') }, (_, next) => next()))
      .get('/x', () => 'x'.repeat(70_000))
    app.get('/long', () => 'x'.repeat(70_000))
    assert.equal((await app.inject('/x')).text(), 'short')
    assert.equal((await app.inject('/long')).status, 500)
    assert.equal(reported().length, 1)
  })

  test('an error whose document is too long is a short 500', async () => {
    const app = kit.app({ limits: { maxBufferedReplies: 65_536 } })
    app.get('/x', () => {
      throw new HTTPError(422, 'x'.repeat(70_000))
    })
    const { status, headers } = await app.inject('/x')
    assert.deepEqual([status, headers['content-type']], [500, 'application/problem+json; charset=utf-8'])
    assert.deepEqual(
      kit.reports.splice(0).map((error) => (error as VolantError).code),
      ['E_REPLY_TOO_LARGE'],
    )
  })
})

describe('the body in an onSend hook', () => {
  test('becomes a stream, a stream becomes text, and a stream is wrapped', async () => {
    const app = kit.app()
    app.onSend(async (ctx, reply) => {
      const { body } = reply
      if (ctx.path === '/wrapped') reply.body = upper(body as AsyncIterable<Chunk>)
      else if (ctx.path === '/read') reply.body = `read ${await textOf(body)}`
      else if (ctx.path === '/web')
        reply.body = new Blob([String(body)]).stream() as ReadableStream<Uint8Array>
      else if (ctx.path === '/known') {
        reply.body = Readable.from(['a', 'b'])
        reply.length = 2
      }
    })
    async function* upper(body: AsyncIterable<Chunk>): AsyncGenerator<string> {
      for await (const chunk of body) yield String(chunk).toUpperCase()
    }
    const sources = [source(['a', 'b']), source(['c', 'd'])] as const
    app.get('/wrapped', (ctx) => ctx.stream(sources[0].stream, { type: 'text/plain', length: 2 }))
    app.get('/read', (ctx) => ctx.stream(sources[1].stream, { length: 2 }))
    app.get('/web', () => 'text')
    app.get('/known', () => 'text')
    const rows = [
      ['/wrapped', 'AB', undefined],
      ['/read', 'read cd', '7'],
      ['/web', 'text', undefined],
      ['/known', 'ab', '2'],
    ] as const
    for (const [path, text, length] of rows) {
      const reply = await app.inject(path)
      assert.deepEqual([reply.text(), reply.headers['content-length']], [text, length], path)
    }
    assert.equal((await app.inject({ url: '/wrapped', method: 'HEAD' })).text(), '')
  })

  test('null drops the content type', async () => {
    const app = kit.app()
    app.onSend((_, reply) => {
      reply.status = 304
      reply.body = null
    })
    app.get('/x', () => ({ a: 1 }))
    const { status, headers, body } = await app.inject('/x')
    assert.deepEqual([status, headers['content-type'], body.length], [304, undefined, 0])
  })

  test('is compressed in four lines', async () => {
    const app = kit.app()
    app.onSend((_, reply) => {
      reply.headers.set('content-encoding', 'gzip')
      const body = typeof reply.body === 'string' ? [reply.body] : (reply.body ?? [])
      reply.body = Readable.from(body).pipe(createGzip())
    })
    app.get('/json', () => ({ a: 'x'.repeat(1_000) }))
    app.get('/stream', (ctx) => ctx.stream(['a', 'b'], { length: 2 }))
    assert.deepEqual(JSON.parse(gunzipSync((await app.inject('/json')).body).toString()), {
      a: 'x'.repeat(1_000),
    })
    assert.equal(gunzipSync((await app.inject('/stream')).body).toString(), 'ab')
  })

  test('its source is cancelled: for HEAD, by another body, by a hook that throws, by a client that leaves', async () => {
    const begun = deferred()
    const go = deferred()
    const cases: [path: string, hook: SendHook, method?: string][] = [
      ['/head', (_, reply) => void (reply.body = never(reply.body as AsyncIterable<Chunk>)), 'HEAD'],
      ['/other', (_, reply) => void (reply.body = 'other')],
      ['/another', (_, reply) => void (reply.body = ['another'])],
      ['/empty', (_, reply) => void (reply.status = 204)],
      [
        '/thrown',
        () => {
          throw new HTTPError(503)
        },
      ],
      ['/leaves', () => (begun.resolve(), go.promise)],
    ]
    async function* never(body: AsyncIterable<Chunk>): AsyncGenerator<Chunk> {
      yield* body
    }
    for (const [path, hook, method = 'GET'] of cases) {
      const app = kit.app()
      const { stream, ended } = source(['a', 'b'])
      app.onSend(hook)
      app.get(path, (ctx) => ctx.stream(stream))
      const client = new AbortController()
      const reply = app.inject({ url: path, method, signal: client.signal })
      if (path === '/leaves') {
        await begun.promise
        client.abort()
        await assert.rejects(reply)
        go.resolve()
      } else await reply
      await eventually(() => ended() === 1, `the source of ${path} is cancelled`)
      assert.deepEqual(reported(), [])
    }
  })
})

describe('onSend hooks', () => {
  /** Adds the name of each hook that a reply passes. */
  const mark =
    (name: string): SendHook =>
    (_, { headers }) => {
      headers.append('x-order', name)
    }
  const marking = (name: string) => middleware({ onSend: mark(name) }, (_, next) => next())
  const orderOf = async (app: App, url: string, method = 'GET') =>
    (await app.inject({ url, method })).headers['x-order']

  test('run from the inside out, the last registered of a scope first', async () => {
    const app = kit.app()
    app.onSend(mark('1'))
    app.use(marking('2'))
    app.onSend(mark('3'))
    app.group('/g', (group) => {
      group.onSend(mark('g'))
      group.get('/x', marking('r1'), marking('r2'), () => 'x')
    })
    app.register((scope) => {
      scope.onSend(mark('p'))
      scope.get('/p', () => 'x')
    })
    app.with(marking('w')).get('/w', () => 'x')
    const inner = kit.app()
    inner.use('/only', marking('only'))
    inner.onSend(mark('m'))
    inner.get('/only/x', () => 'x')
    inner.get('/y', () => 'x')
    app.mount('/m', inner)
    app.get('/x', () => 'x')
    const rows = [
      ['/x', '3, 2, 1'],
      ['/g/x', 'r2, r1, g, 3, 2, 1'],
      ['/g/none', 'g, 3, 2, 1'],
      ['/p', 'p, 3, 2, 1'],
      ['/w', 'w, 3, 2, 1'],
      ['/m/only/x', 'm, only, 3, 2, 1'],
      ['/m/y', 'm, 3, 2, 1'],
      ['/m/only/none', 'm, only, 3, 2, 1'],
      ['/none', '3, 2, 1'],
    ] as const
    for (const [path, order] of rows) assert.equal(await orderOf(app, path), order, path)
    assert.equal(await orderOf(app, '/g/x', 'DELETE'), 'g, 3, 2, 1')
    assert.equal(await orderOf(app, '/g/x', 'OPTIONS'), 'g, 3, 2, 1')
  })

  test('under a path run for requests under it alone', async () => {
    const app = kit.app()
    app.use('/a', marking('a'))
    app.get('/:x/y', () => 'x')
    app.get('/b', () => 'x')
    assert.equal(await orderOf(app, '/a/y'), 'a')
    assert.equal(await orderOf(app, '/b/y'), undefined)
    assert.equal(await orderOf(app, '/b'), undefined)
    assert.equal(await orderOf(app, '/a/none/x'), 'a')
  })

  test('see errors, those of an error handler, and what outer middleware replies', async () => {
    const app = kit.app()
    app.onSend((_, { status, headers }) => headers.set('x-seen', status))
    app.use('/guard', (ctx) => ctx.text('no', 401))
    app.get('/guard/x', () => 'x')
    app.get('/error', () => {
      throw new HTTPError(409)
    })
    app.group('/own', (own) => {
      own.onError((_, ctx) => ctx.text('handled', 422))
      own.get('/x', () => {
        throw new Error('own')
      })
    })
    for (const [path, status] of [
      ['/guard/x', '401'],
      ['/error', '409'],
      ['/own/x', '422'],
      ['/none', '404'],
    ] as const) {
      assert.equal((await app.inject(path)).headers['x-seen'], status, path)
    }
    assert.equal((await app.inject({ url: '/error', method: 'PUT' })).headers['x-seen'], '405')
  })

  test('are awaited in order, and the listeners of the reply wait as well', async () => {
    const app = kit.app()
    const order: string[] = []
    const slow =
      (name: string): SendHook =>
      async () => {
        await new Promise((resolve) => setImmediate(resolve))
        order.push(name)
      }
    app
      .onSend(slow('outer'))
      .onSend(() => void order.push('sync'))
      .onSend(slow('inner'))
    app.onResponse(() => void order.push('response'))
    app.get('/x', (ctx) => ctx.text('x'))
    app.get('/error', () => {
      throw new HTTPError(409)
    })
    for (const [path, status] of [
      ['/x', 200],
      ['/error', 409],
    ] as const) {
      assert.equal((await app.inject(path)).status, status)
      assert.deepEqual(order.splice(0), ['inner', 'sync', 'outer', 'response'])
    }
  })

  test('that wait let nobody reply twice', async () => {
    const app = kit.app()
    const go = deferred()
    app.onSend(() => go.promise)
    app.get('/x', async (ctx) => {
      ctx.text('first')
      ctx.json({ second: true })
      ctx.header('x-late', 'in time: the head has not left')
      go.resolve()
      throw new Error('after the reply')
    })
    const { status, headers } = await app.inject('/x')
    assert.deepEqual([status, headers['x-late']], [200, 'in time: the head has not left'])
    assert.deepEqual(reported(), [
      'ctx.json was called after GET /x had its reply, and was dropped: an onSend hook sets reply.body',
      'after the reply',
    ])
  })

  test('that never end are ended by the time of the route', async () => {
    for (const handler of [undefined, async () => 'handled'] as const) {
      const app = kit.app()
      const go = deferred()
      const { stream, ended } = source(['a'])
      const told: unknown[] = []
      app.onSend(() => go.promise)
      app.onResponse((_, { status, aborted }) => void told.push([status, aborted]))
      if (handler !== undefined) app.onError(handler)
      app.get('/x', { handlerTimeout: 20 }, (ctx) => ctx.stream(stream))
      const { status, body } = await app.inject('/x')
      assert.equal(status, 503)
      if (handler !== undefined) assert.equal(body.toString(), 'handled')
      go.resolve()
      await eventually(() => ended() > 0 && told.length > 0, 'the source is cancelled')
      assert.deepEqual([told, reported()], [[[503, false]], []])
    }
  })

  test('that never settle do not hold up the 503 of handlerTimeout, nor does an error handler', async () => {
    const never = () => new Promise<never>(() => {})
    for (const onError of [undefined, never, () => 'handled']) {
      const app = kit.app()
      const told: number[] = []
      app.onSend(never)
      app.onResponse((_, { status }) => void told.push(status))
      if (onError !== undefined) app.onError(onError)
      app.get('/x', { handlerTimeout: 20 }, never)
      const { status, body } = await app.inject('/x')
      assert.deepEqual([status, JSON.parse(body.toString()).code], [503, 'E_HANDLER_TIMEOUT'])
      assert.deepEqual(told, [503])
    }
  })

  test('that fail are answered by the error handler, which may wait; the handler does not reply again', async () => {
    for (const wait of [false, true]) {
      const app = kit.app()
      const ran: string[] = []
      app.onSend(async () => {
        if (wait) await Promise.resolve()
        throw new Error('hook')
      })
      app.onSend(() => {
        if (!wait) throw new Error('hook')
      })
      app.onError(async (error, ctx) => {
        await new Promise((resolve) => setImmediate(resolve))
        ctx.text((error as Error).message, 502)
      })
      app.use(
        middleware(async (ctx, next) => {
          await next()
          ran.push(`after ${ctx.status()}`)
        }),
      )
      app.get(
        '/gate',
        middleware((ctx) => void ctx.text('gate', 401)),
        () => void ran.push('handler'),
      )
      app.get('/x', (ctx) => void ctx.text('x'))
      app.get('/value', async () => ({ a: 1 }))
      for (const path of ['/gate', '/x', '/value']) {
        const reply = await app.inject(path)
        assert.deepEqual([reply.status, reply.text()], [502, 'hook'], path)
      }
      assert.ok(!ran.includes('handler'))
      assert.deepEqual(reported(), [])
    }
  })

  test('of a procedure are refused', () => {
    assert.throws(
      () => procedure().use(marking('x')),
      /a middleware with onResponse or onSend, or a rate limit, belongs to an app/,
    )
    assert.throws(() => kit.app().onSend(5 as never), { code: 'E_BAD_HANDLER' })
    assert.throws(
      () => middleware({ onSend: 5 as never }, () => {}),
      /middleware: onSend takes a function, not 5/,
    )
  })
})
