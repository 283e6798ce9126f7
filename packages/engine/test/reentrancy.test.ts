/**
 * Handlers that call anything from anywhere: every pair of operations inside every callback, on the bare Exchange
 * contract (reliability F7). The engine must stay whole: slots come back, other clients are served.
 *
 * `VOLANT_ENGINE` may name a build with AddressSanitizer; see CONTRIBUTING.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { engineLimits, within } from '@volant/test-kit'
import {
  type BodySink,
  ContentType,
  engineClock,
  type Exchange,
  type Host,
  type Limits,
  nativeEngine,
  type Server,
} from '../src/index.ts'

const limits: Limits = engineLimits

type Operation = (exchange: Exchange, server: Server, sink: BodySink) => void

const operations: Record<string, Operation> = {
  end: (exchange) => exchange.end(200, ContentType.text, ['x-a', 'b'], 'ended'),
  endLarge: (exchange) => exchange.end(200, ContentType.bytes, null, Buffer.alloc(100_000)),
  start: (exchange) => exchange.start(200, ContentType.text, null, -1),
  startShort: (exchange) => exchange.start(200, ContentType.text, null, 3),
  write: (exchange) => void exchange.write('written'),
  writeLarge: (exchange) => void exchange.write(Buffer.alloc(70_000)),
  finish: (exchange) => exchange.finish(),
  destroy: (exchange) => exchange.destroy(),
  readBody: (exchange, _, sink) => {
    try {
      exchange.readBody(sink, 10)
    } catch (error) {
      assert.equal((error as { code?: string }).code, 'E_BODY_USED')
    }
  },
  credit: (exchange) => exchange.credit(100),
  inform: (exchange) => exchange.inform(103, ['link', '</a.css>; rel=preload']),
  stats: (_, server) => void server.stats(),
  close: (_, server) => void server.close(),
}

/** How the client makes a callback happen. */
type Provoke = 'nothing' | 'halfClose' | 'reset' | 'restOfBody' | 'badChunk' | 'read'

interface Place {
  readonly provoke: Provoke
  readonly body: 'none' | 'length' | 'chunked'
  /** Sets `act` up to run in the callback. */
  arrange(exchange: Exchange, act: () => void): void
}

const silent: BodySink = { chunk() {}, end() {}, fail() {} }

const places: Record<string, Place> = {
  dispatch: { provoke: 'nothing', body: 'none', arrange: (_, act) => act() },
  microtask: { provoke: 'nothing', body: 'none', arrange: (_, act) => queueMicrotask(act) },
  nextTick: { provoke: 'nothing', body: 'none', arrange: (_, act) => process.nextTick(act) },
  immediate: { provoke: 'nothing', body: 'none', arrange: (_, act) => void setImmediate(act) },
  timer: { provoke: 'nothing', body: 'none', arrange: (_, act) => void setTimeout(act, 0) },
  halfClosed: {
    provoke: 'halfClose',
    body: 'none',
    arrange(exchange, act) {
      exchange.onAbort = act
    },
  },
  reset: {
    provoke: 'reset',
    body: 'none',
    arrange(exchange, act) {
      exchange.onAbort = act
    },
  },
  drain: {
    provoke: 'read',
    body: 'none',
    arrange(exchange, act) {
      exchange.onDrain = act
      exchange.start(200, ContentType.bytes, null, -1)
      exchange.write(Buffer.alloc(66_000))
    },
  },
  chunk: {
    provoke: 'nothing',
    body: 'length',
    arrange: (exchange, act) => exchange.readBody({ ...silent, chunk: act }, 1_000),
  },
  bodyEnd: {
    provoke: 'restOfBody',
    body: 'length',
    arrange: (exchange, act) => exchange.readBody({ ...silent, end: act }, 1_000),
  },
  bodyFail: {
    provoke: 'badChunk',
    body: 'chunked',
    arrange: (exchange, act) => exchange.readBody({ ...silent, fail: act }, 1_000),
  },
}

const heads = {
  none: 'GET /a HTTP/1.1\r\nHost: x\r\n\r\n',
  length: 'POST /s HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\nabc',
  chunked: 'POST /s HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n',
}

function provoke(client: Socket, how: Provoke): void {
  if (how === 'halfClose') client.end()
  else if (how === 'reset') client.resetAndDestroy()
  else if (how === 'restOfBody') client.write('def')
  else if (how === 'badChunk') client.write('zz\r\n')
}

const engine = nativeEngine()

test(
  'every pair of operations in every callback',
  { skip: 'reason' in engine ? engine.reason : false },
  async (t) => {
    if ('reason' in engine) return
    // A server that closes ends what is under way when shutdownTimeout is over, 275 times here.
    engineClock.hold(true)
    t.after(() => engineClock.hold(false))
    let arrange: (exchange: Exchange) => void = () => {}
    const entry = { maxBodySize: 1_000_000, requestTimeout: 0 }
    const host: Host = {
      limits,
      router: { caseSensitive: true, ignoreTrailingSlash: false, methods: [] },
      routes: [
        { method: 'GET', pattern: '/a', bodyMode: 0, ...entry },
        { method: 'POST', pattern: '/s', bodyMode: 1, ...entry },
        { method: 'GET', pattern: '/healthy', bodyMode: 0, ...entry },
      ],
      dispatch(exchange, id) {
        if (id === 2) exchange.end(200, ContentType.text, null, 'healthy')
        else arrange(exchange)
      },
    }
    let server = engine.adapter.createServer(host)
    server.unref()
    let { port } = await server.listen({ port: 0, host: '127.0.0.1' })
    let acted = 0
    for (const [place, { provoke: how, body, arrange: at }] of Object.entries(places)) {
      for (const [first, one] of Object.entries(operations)) {
        for (const [second, two] of Object.entries(operations)) {
          const label = `${place}: ${first}, ${second}`
          let begin = (): void => {}
          const begun = new Promise<void>((resolve) => {
            begin = resolve
          })
          const seen = new Promise<void>((resolve) => {
            arrange = (exchange) => {
              begin()
              let done = false
              at(exchange, () => {
                if (done) return
                done = true
                acted++
                one(exchange, server, silent)
                two(exchange, server, silent)
                resolve()
              })
            }
          })
          const client = connect({ port: port as number, host: '127.0.0.1', allowHalfOpen: true })
          client.on('error', () => {})
          client.resume()
          await once(client, 'connect')
          client.write(heads[body])
          // The callback needs the request to be there first.
          if (how !== 'nothing' && how !== 'read') {
            await within(begun, `${label}: the request`)
            provoke(client, how)
          }
          await within(seen, `${label}: the callback`)
          const closes = first === 'close' || second === 'close'
          if (!closes) await healthy(port as number, label)
          client.destroy()
          client.resetAndDestroy()
          if (closes) {
            const closed = server.close()
            await engineClock.advance(limits.shutdownTimeout)
            await within(closed, `${label}: the close of the server`)
            server = engine.adapter.createServer(host)
            port = (await server.listen({ port: 0, host: '127.0.0.1' })).port
          }
        }
      }
    }
    assert.equal(acted, Object.keys(places).length * Object.keys(operations).length ** 2)
    assert.equal(server.stats().panics, 0)
    await server.close()
  },
)

async function healthy(port: number, label: string): Promise<void> {
  const client = connect(port, '127.0.0.1')
  client.write('GET /healthy HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  let text = ''
  for await (const part of client) text += String(part)
  assert.ok(text.endsWith('healthy'), `${label}: ${text}`)
}
