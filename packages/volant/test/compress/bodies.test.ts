/** What compressed bodies are once they are read: streams, large bodies, bodies of any length. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { compress } from 'volant/compress'
import { eventually, Kit, type Reply } from '../kit.ts'
import { plain } from './kit.ts'

const kit = new Kit()

const long = 'compressible '.repeat(200)

const gzip = { headers: { 'accept-encoding': 'gzip' } }

describe('compress', () => {
  test('a stream that a hook has wrapped is compressed to its end, and cancelled with what it reads', async () => {
    const app = kit.app()
    app.use(compress())
    let ended = 0
    app.onSend((_, reply) => {
      const { body } = reply
      if (typeof body !== 'object' || body === null || body instanceof Uint8Array) return
      reply.body = (async function* () {
        for await (const chunk of body) yield `<${String(chunk)}>`
      })()
    })
    const source = (fails: boolean): Readable =>
      Readable.from(
        (async function* () {
          yield* ['a', 'b']
          await new Promise((resolve) => setImmediate(resolve))
          yield 'c'
          if (fails) throw new Error('gone')
        })(),
      ).on('close', () => ended++)
    app.get('/x', (ctx) => ctx.stream(source(false), { type: 'text/plain' }))
    app.get('/head', (ctx) => ctx.stream(source(false), { type: 'text/plain' }))
    app.get('/fails', (ctx) => ctx.stream(source(true), { type: 'text/plain' }))
    await kit.serve(app, async (live) => {
      assert.equal(plain(await live.ask('/x', gzip)), '<a><b><c>')
      await live.ask('/head', { method: 'HEAD', ...gzip })
      await assert.rejects(live.ask('/fails', gzip))
      assert.equal((kit.reports.pop() as Error).message, 'gone')
      await eventually(() => ended === 3, 'the sources are closed')
    })
  })

  test('what is above syncThreshold is compressed later, with the same result', async () => {
    for (const syncThreshold of [0, 1e6]) {
      const app = kit.app()
      app.use(compress({ syncThreshold }))
      app.get('/x', () => long)
      await kit.serve(app, async (live) => {
        const reply = await live.ask('/x', gzip)
        assert.equal(plain(reply), long)
        assert.equal(reply.headers['content-length'], String(reply.body.length))
      })
    }
  })

  test('a reply leaves as it is where the queue of larger bodies is full', async () => {
    const app = kit.app()
    app.use(compress({ syncThreshold: 0 }))
    app.get('/few-bytes', () => long)
    app.get('/many-bytes', () => long.repeat(400))
    await kit.serve(app, async (live) => {
      for (const [path, count] of [
        ['/few-bytes', 300],
        ['/many-bytes', 60],
      ] as const) {
        const replies = await Promise.all(Array.from({ length: count }, () => live.ask(path, gzip)))
        const packed = replies.filter(({ headers }) => headers['content-encoding'] === 'gzip').length
        assert.ok(packed > 30 && packed < count, `${packed} of ${count} were compressed`)
        const text = plain(replies[0] as Reply)
        for (const reply of replies) {
          assert.equal(plain(reply), text)
          assert.equal(reply.headers['vary'], 'Accept-Encoding')
        }
      }
    })
  })

  test('bodies of every length around the sizes of windows come back as they were', async () => {
    const app = kit.app()
    app.use(compress({ threshold: 0 }))
    const text = randomBytes(33_000).toString('hex')
    app.get('/:length', (ctx) => text.slice(0, Number(ctx.params.length)))
    await kit.serve(app, async (live) => {
      const lengths = [0, 1, 249, 250, 251, 500, 763, 16_122, 16_123, 32_505, 32_506, 32_507, 32_768, 66_000]
      for (const coding of ['gzip', 'br', 'zstd']) {
        for (const length of lengths) {
          const reply = await live.ask(`/${length}`, { headers: { 'accept-encoding': coding } })
          assert.equal(plain(reply), text.slice(0, length), `${coding} ${length}`)
        }
      }
    })
  })
})
