import { createHash } from 'node:crypto'

import { idleLimits, TestAuthority, turns } from '@volant/test-kit'
import { type AdapterType, createApp, type Context, type VolantError } from 'volant'

import type { Carrier, Target } from './carrier.ts'

export type AdapterName = AdapterType

/** The server the cases are played against, in this process. */
export interface CaseServer extends Target {
  /** Requests whose handler ran, missing routes included. A reply has the number of its request in `x-run`, from 1. */
  readonly requests: () => number
  /** The numbers of requests whose client ended its side within the body: no reply is due. */
  readonly cutOff: ReadonlySet<number>
  /** How often the handler of `/smuggled` ran: octets of a body or behind a refusal were taken for a request. */
  readonly smuggled: () => number
  readonly close: () => Promise<void>
}

/**
 * Starts the app of the cases on 127.0.0.1. Throws if the adapter cannot be loaded, or TLS is needed and it has none.
 */
export async function startServer(adapter: AdapterName, carrier: Carrier = 'tcp'): Promise<CaseServer> {
  // No case is about slowness, and a head in 512 writes beside 63 others takes over 10 s on a slow machine.
  // A connection that should be closed at once, or stay open, may not be closed by a limit while a client waits for that.
  // uWebSockets.js has a limit of its own, which is recorded.
  const limits = { ...idleLimits(adapter), drainIdle: 0 }
  const app = createApp({
    adapter: { type: adapter },
    limits,
    router: { methods: ['PURGE'] },
    signals: false,
    report: () => undefined,
  })
  let requests = 0
  const runs = new WeakMap<object, number>()
  const cutOff = new Set<number>()
  let smuggled = 0
  app.use((ctx, next) => {
    runs.set(ctx, ++requests)
    ctx.header('x-seen', '1').header('x-run', String(requests))
    return next()
  })

  const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY'] as const
  app.on(methods, '/echo', echo)
  app.on(['PURGE'], '/purge', echo)
  app.get('/', echo)
  app.get('/a/b', echo)
  app.get('/p/*', echo)
  app.post('/small', { maxBodySize: 64 }, echo)
  app.get('/probe', (ctx) => ctx.header('x-probe', '1').text('probe'))
  app.get('/smuggled', (ctx) => {
    smuggled++
    ctx.text('smuggled')
  })
  app.get('/slow', async (ctx) => {
    // The client of a case ends its side three turns after it has sent the request, and the server reads that in the turn
    // after them: long before this reply, however slow the machine is.
    await turns()
    echo(ctx)
  })
  repliesOf(app)
  bodiesOf(app, async (ctx, read) => {
    const run = runs.get(ctx) as number
    try {
      return await read()
    } catch (error) {
      // Other errors have a reply, such as 400 for a malformed chunk.
      if ((error as VolantError).code === 'E_ABORTED') cutOff.add(run)
      throw error
    }
  })
  marksOf(app)

  const { port } = await app.listen({ port: 0, host: '127.0.0.1', ...(await secured(carrier)) })
  if (port === null) throw new Error('the server has no port')
  return {
    port,
    carrier,
    requests: () => requests,
    cutOff,
    smuggled: () => smuggled,
    close: () => app.close(),
  }
}

/** Gives the options of `listen` beside the address. HTTP/2 is offered as well, as it is by default. */
async function secured(carrier: Carrier): Promise<{ tls?: { cert: string; key: string } }> {
  if (carrier === 'tcp') return {}
  const { cert, key } = (await TestAuthority.make()).server(['127.0.0.1'])
  return { tls: { cert, key } }
}

type App = ReturnType<typeof createApp>

function echo(ctx: Context): void {
  const body = ctx.bodyBytes
  const question = ctx.url.indexOf('?')
  ctx.header('x-echo', '1').json({
    method: ctx.method,
    path: ctx.path,
    query: question < 0 ? '' : ctx.url.slice(question + 1),
    version: ctx.httpVersion,
    host: ctx.host,
    body:
      body.length <= 256
        ? body.toString('latin1')
        : `sha256:${createHash('sha256').update(body).digest('hex')}`,
    length: body.length,
    headers: ctx.headers,
  })
}

/** Replies of every shape. */
function repliesOf(app: App): void {
  app.get('/text', (ctx) => ctx.text('hello world'))
  app.get('/nothing', (ctx) => ctx.text(''))
  app.get('/empty', (ctx) => ctx.reply(204))
  app.get('/not-modified', (ctx) => ctx.header('etag', '"1"').reply(304))
  app.get('/stream', (ctx) => ctx.stream(words()))
  app.get('/param/:p', (ctx) => ctx.text(ctx.params.p))
  app.get('/query', (ctx) => ctx.text(String(Object.keys(ctx.query).length)))
  app.get('/fail/:status', (ctx) => ctx.text('failed', Number(ctx.params.status)))
  app.get('/reflect', (ctx) => ctx.header('x-reflected', ctx.headers['x-a'] ?? '').text('reflected'))
  app.get('/inject/:which', (ctx) => {
    injections[ctx.params.which]?.(ctx)
    ctx.text('injected')
  })
  app.on(['GET', 'POST'], '/throw', () => {
    throw new Error('thrown by the case')
  })
}

async function* words(): AsyncGenerator<string> {
  yield 'one '
  await turns(1)
  yield 'two '
  yield 'three'
}

/** What a careless handler may try to send (reliability S5); each must fail before an octet is written. */
const injections: Readonly<Record<string, (ctx: Context) => void>> = {
  'value-crlf': (ctx) => ctx.header('x-evil', 'a\r\nInjected: 1'),
  'value-lf': (ctx) => ctx.header('x-evil', 'a\nInjected: 1'),
  'value-cr': (ctx) => ctx.header('x-evil', 'a\rInjected: 1'),
  'value-nul': (ctx) => ctx.header('x-evil', 'a\0b'),
  'value-wide': (ctx) => ctx.header('x-evil', 'a\u010d\u010ab'),
  'name-crlf': (ctx) => ctx.header('x-evil: 1\r\ninjected', '1'),
  'name-colon': (ctx) => ctx.header('x-evil:', '1'),
  'name-space': (ctx) => ctx.header('x-evil ', '1'),
  'name-empty': (ctx) => ctx.header('', '1'),
  'content-length': (ctx) => ctx.header('content-length', '5'),
  'content-length-case': (ctx) => ctx.header('CONTENT-Length', '5'),
  'transfer-encoding': (ctx) => ctx.header('transfer-encoding', 'chunked'),
  connection: (ctx) => ctx.header('connection', 'x-evil'),
  'redirect-crlf': (ctx) => ctx.header('location', '/\r\nInjected: 1'),
  'content-type-crlf': (ctx) => ctx.header('content-type', 'text/plain\r\nInjected: 1'),
}

/** Handlers that read their body late, in part, or never; `reading` runs what waits for it. */
function bodiesOf(app: App, reading: <T>(ctx: object, read: () => Promise<T>) => Promise<T>): void {
  app.post('/early', { bodyMode: 'stream' }, (ctx) => ctx.text('early'))
  app.post('/only-post', (ctx) => ctx.text('posted'))
  app.post('/throw-stream', { bodyMode: 'stream' }, () => {
    throw new Error('thrown by the case')
  })
  app.post('/collect', { bodyMode: 'stream' }, async (ctx) => {
    const parts: Uint8Array[] = []
    await reading(ctx, async () => {
      for await (const part of ctx.bodyStream) parts.push(part)
    })
    const body = Buffer.concat(parts)
    ctx
      .header('x-echo', '1')
      .json({ method: ctx.method, path: ctx.path, body: body.toString('latin1'), length: body.length })
  })
  app.post('/first-chunk', { bodyMode: 'stream' }, async (ctx) => {
    const reader = ctx.bodyStream.getReader()
    await reading(ctx, () => reader.read())
    ctx.text('first chunk')
  })
  app.post('/trailers', { bodyMode: 'stream' }, async (ctx) => {
    const body = await reading(ctx, () => ctx.request.text())
    ctx.text(JSON.stringify([body, ctx.trailers]))
  })
  app.get('/with-trailers', (ctx) => ctx.trailer('X-One', '1').trailer('x-two', ['a', 'b']).stream(words()))
  app.post(
    '/guarded',
    {
      beforeBody: (ctx) => {
        if (ctx.headers['x-token'] !== 'yes') ctx.text('unauthorised', 401)
      },
    },
    echo,
  )
}

/** Server state that shows in which order requests of one connection ran: in so many turns of the
 * event loop one could overtake another. */
function marksOf(app: App): void {
  const marks = new Set<string>()
  const report = (ctx: Context<{ params: { run: string } }>) =>
    ctx.text(marks.has(ctx.params.run) ? 'marked' : 'not marked')
  app.post('/mark/:run', async (ctx) => {
    await turns()
    marks.add(ctx.params.run)
    ctx.reply(204)
  })
  app.get('/mark/:run', report)
  app.get('/slow-mark/:run', async (ctx) => {
    await turns()
    report(ctx)
  })
}
