import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { describe, test } from 'node:test'
import { fromConnect } from 'volant/connect'
import { eventually, type Kit, request, unchanging } from '../../kit.ts'
import { serving } from './serving.ts'

const large = randomBytes(10_000_000)

const streamed = { bodyMode: 'stream', maxBodySize: 16_000_000 } as const

export function bodiesOfConnect(kit: Kit): void {
  describe('connect middleware', () => {
    const serve = serving(kit)

    test('10 MB in and out, whole and piped', async () => {
      await serve(
        (app) => {
          app.get(
            '/whole',
            fromConnect((_, res) => res.end(large)),
          )
          app.get(
            '/piped',
            fromConnect((_, res) => {
              const parts = Array.from({ length: 100 }, (__, at) =>
                large.subarray(at * 100_000, (at + 1) * 100_000),
              )
              return pipeline(Readable.from(parts), res)
            }),
          )
          for (const [path, options] of [
            ['/up', { maxBodySize: 16_000_000 }],
            ['/up-streamed', streamed],
          ] as const) {
            app.post(
              path,
              options,
              fromConnect(async (req, res) => {
                const hash = createHash('sha1')
                for await (const chunk of req) hash.update(chunk as Buffer)
                res.end(`${hash.digest('hex')} ${String(req.complete)}`)
              }),
            )
          }
        },
        async (live) => {
          for (const path of ['/whole', '/piped'])
            assert.equal(digest((await live.ask(path)).body), digest(large))
          for (const path of ['/up', '/up-streamed']) {
            const { text } = await live.post(path, 'application/octet-stream', large)
            assert.equal(text, `${digest(large)} true`)
          }
        },
      )
    })

    test('the body is there for the context after a middleware has read it', async () => {
      const reads = fromConnect(async (req, _, next) => {
        let text = ''
        for await (const chunk of req) text += String(chunk)
        if (text.startsWith('{')) (req as unknown as { body: unknown }).body = { read: text.length }
        next()
      })
      await serve(
        (app) => {
          app.post('/', reads, (ctx) => ({ body: ctx.body, text: ctx.bodyText }))
        },
        async (live) => {
          assert.deepEqual((await live.post('/', 'text/plain', 'abc')).json(), { body: 'abc', text: 'abc' })
          const json = await live.post('/', 'application/json', '{"a":1}')
          assert.deepEqual(json.json(), { body: { read: 7 }, text: '{"a":1}' })
        },
      )
    })

    test('a slow reader stops the writer, and drain starts it again', async () => {
      let written = 0
      let drained = 0
      await serve(
        (app) => {
          app.get(
            '/',
            fromConnect((_, res) => {
              const chunk = Buffer.alloc(65_536)
              const go = (): void => {
                while (written < 30_000_000) {
                  written += chunk.length
                  if (!res.write(chunk)) return
                }
                res.end()
              }
              res.on('drain', () => {
                drained++
                go()
              })
              go()
            }),
          )
        },
        async (live) => {
          const wire = await live.connect()
          wire.socket.pause()
          wire.send(request('GET', '/'))
          await unchanging(() => written, 'the writer waits for its client')
          assert.ok(written < 20_000_000, `${written} bytes were written for a reader that reads nothing`)
          let received = 0
          wire.socket.removeAllListeners('data')
          wire.socket.on('data', (bytes: Buffer) => {
            received += bytes.length
          })
          wire.socket.resume()
          await eventually(() => received > 30_000_000, 'all bytes')
          assert.ok(drained > 0)
        },
      )
    })
  })
}

function digest(bytes: Uint8Array): string {
  return createHash('sha1').update(bytes).digest('hex')
}
