import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'
import { createGzip, gunzipSync } from 'node:zlib'
import { type Chunk, HTTPError, type OutgoingReply, type SendHook } from '../../src/index.ts'
import { deferred, eventually } from '../kit.ts'
import { kit, reported, source } from './kit.ts'

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

async function textOf(body: OutgoingReply['body']): Promise<string> {
  if (body === null || typeof body === 'string') return body ?? ''
  if (body instanceof Uint8Array) return Buffer.from(body).toString()
  let text = ''
  for await (const chunk of body) text += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()
  return text
}
