import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { describe, test } from 'node:test'
import { fromConnect } from 'volant/connect'
import { deferred, eventually, type Kit, request } from '../../kit.ts'
import { serving } from './serving.ts'

export function eventsOfConnect(kit: Kit): void {
  describe('connect middleware', () => {
    const serve = serving(kit)

    test('events of a reply, and of a client that leaves', async () => {
      const seen: string[] = []
      const listen = (req: IncomingMessage, res: ServerResponse): void => {
        for (const name of ['finish', 'close']) res.on(name, () => seen.push(`res ${name}`))
        for (const name of ['aborted', 'close']) req.on(name, () => seen.push(`req ${name}`))
        req.on('error', (error: Error & { code?: string }) => seen.push(`req error ${error.code}`))
        res.socket?.on('close', () => seen.push('socket close'))
      }
      const started = deferred()
      await serve(
        (app) => {
          app.get(
            '/own',
            fromConnect((req, res) => {
              listen(req, res)
              res.end('own')
            }),
          )
          app.get(
            '/merged',
            fromConnect((req, res, next) => {
              listen(req, res)
              next()
            }),
            () => 'merged',
          )
          app.get(
            '/wait',
            fromConnect((req, res) => {
              listen(req, res)
              started.resolve()
            }),
          )
        },
        async (live) => {
          for (const path of ['/own', '/merged']) {
            seen.length = 0
            await live.ask(path)
            await eventually(() => seen.includes('res close') && seen.includes('req close'), 'close')
            assert.deepEqual(seen.toSorted(), ['req close', 'res close', 'res finish', 'socket close'], path)
            assert.ok(seen.indexOf('res finish') < seen.indexOf('res close'))
          }
          seen.length = 0
          const wire = await live.connect()
          wire.send(request('GET', '/wait'))
          await started.promise
          wire.reset()
          await eventually(() => seen.includes('res close') && seen.includes('req close'), 'close')
          assert.deepEqual(seen.toSorted(), [
            'req aborted',
            'req close',
            'req error ECONNRESET',
            'res close',
            'socket close',
          ])
        },
      )
    })

    test('a pipeline into a client that leaves settles', async () => {
      const outcome = deferred<unknown>()
      await serve(
        (app) => {
          app.get(
            '/',
            fromConnect((_, res) => {
              const endless = new Readable({
                read() {
                  this.push(Buffer.alloc(65_536))
                },
              })
              pipeline(endless, res).then(
                () => outcome.resolve(null),
                (error: unknown) => outcome.resolve((error as { code: unknown }).code),
              )
            }),
          )
        },
        async (live) => {
          const wire = await live.connect()
          wire.send(request('GET', '/'))
          await once(wire.socket, 'data')
          wire.reset()
          assert.equal(await outcome.promise, 'ERR_STREAM_PREMATURE_CLOSE')
        },
      )
    })

    test('the async context of a middleware is that of the handler and of its events', async () => {
      const storage = new AsyncLocalStorage<string>()
      const seen: unknown[] = []
      await serve(
        (app) => {
          app.use(fromConnect((req, _, next) => storage.run(req.url ?? '', next)))
          app.use(
            fromConnect((_, res, next) => {
              const bound = storage.getStore()
              res.on('finish', () => seen.push(bound))
              setImmediate(next)
            }),
          )
          app.get('/*', () => storage.getStore())
        },
        async (live) => {
          const replies = await Promise.all(['/a', '/b', '/c'].map((path) => live.ask(path)))
          assert.deepEqual(
            replies.map(({ text }) => text),
            ['/a', '/b', '/c'],
          )
          await eventually(() => seen.length === 3, 'three ends')
          assert.deepEqual(seen.toSorted(), ['/a', '/b', '/c'])
        },
      )
    })
  })
}
