import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as z from 'zod'
import { eventually, type Kit, stderrLines } from '../../kit.ts'
import { Peer } from '../../peer.ts'

/** What becomes of errors of hooks. */
export function hookErrors(kit: Kit): void {
  describe('WebSockets', () => {
    describe('errors of hooks', () => {
      for (const hook of ['open', 'message'] as const) {
        for (const way of ['throws', 'rejects'] as const) {
          test(`${hook} ${way}: it is reported, and the WebSocket closed with 1011`, async () => {
            const app = kit.app()
            const before = kit.reports.length
            const run = (): unknown => {
              if (way === 'rejects') return Promise.reject(new Error(`${hook} ${way}`))
              throw new Error(`${hook} ${way}`)
            }
            app.ws('/', { [hook]: run })
            app.ws('/fine', { message: (ws, message) => ws.send(message) })
            await kit.serve(app, async (live) => {
              const fine = await Peer.open(live, '/fine')
              const peer = await Peer.open(live, '/')
              if (hook === 'message') peer.send('x')
              assert.equal((await peer.closed())[0], 1011)
              assert.equal(await fine.send('still here').text(), 'still here')
            })
            assert.deepEqual(
              kit.reports.slice(before).map((error) => (error as Error).message),
              [`${hook} ${way}`],
            )
          })
        }
      }

      test('the hook error gets them, and the WebSocket stays open', async () => {
        const app = kit.app()
        const before = kit.reports.length
        app.ws('/', {
          async message(_, message) {
            await Promise.resolve()
            throw new Error(String(message))
          },
          error: (ws, error) => ws.send(`failed: ${(error as Error).message}`),
        })
        await kit.serve(app, async (live) => {
          const peer = await Peer.open(live, '/')
          assert.equal(await peer.send('a').text(), 'failed: a')
          assert.equal(await peer.send('b').text(), 'failed: b')
        })
        assert.equal(kit.reports.length, before)
      })

      test('the report says which hook of which WebSocket failed', async () => {
        const told: unknown[] = []
        const app = kit.app({
          report: (error, { method, path, pattern }, hook) =>
            void told.push([(error as Error).message, method, path, pattern, hook]),
        })
        const fails = (): never => {
          throw new Error('broken')
        }
        app.get('/rooms/:room', fails)
        app.ws('/rooms/:room', { in: z.number(), message: fails, invalid: fails, close: fails })
        app.ws('/error', {
          open: fails,
          error: () => Promise.reject(new Error('broken, too')),
        })
        await kit.serve(app, async (live) => {
          await live.ask('/rooms/a')
          await (await Peer.open(live, '/rooms/a')).send('1').closed()
          await eventually(() => told.length === 3, 'the hook close of the first')
          await (await Peer.open(live, '/rooms/a')).send('no number').closed()
          await eventually(() => told.length === 5, 'the hook close of the second')
          await (await Peer.open(live, '/error')).closed()
        })
        const socket = ['WS', '/rooms/:room', '/rooms/:room']
        assert.deepEqual(told, [
          ['broken', 'GET', '/rooms/a', '/rooms/:room', undefined],
          ['broken', ...socket, 'message'],
          ['broken', ...socket, 'close'],
          ['broken', ...socket, 'invalid'],
          ['broken', ...socket, 'close'],
          ['broken, too', 'WS', '/error', '/error', 'error'],
        ])
      })

      test('the line on stderr says it as well', async () => {
        const app = kit.app({ report: undefined })
        app.ws('/rooms/:room', {
          message() {
            throw new Error('broken')
          },
        })
        const lines = await stderrLines(() =>
          kit.serve(app, async (live) => {
            await (await Peer.open(live, '/rooms/a')).send('x').closed()
          }),
        )
        assert.match(lines.join('\n'), /^volant: the hook message of WS \/rooms\/:room: Error: broken$/m)
      })

      test('an error hook that fails is reported, and closes with 1011', async () => {
        const app = kit.app()
        const before = kit.reports.length
        app.ws('/', {
          message() {
            throw new Error('first')
          },
          error() {
            throw new Error('second')
          },
        })
        await kit.serve(app, async (live) => {
          const peer = await Peer.open(live, '/')
          assert.equal((await peer.send('a').closed())[0], 1011)
        })
        assert.deepEqual(
          kit.reports.slice(before).map((error) => (error as Error).message),
          ['second'],
        )
      })

      test('a hook that never settles holds up nobody', async () => {
        const app = kit.app()
        app.ws('/', {
          message(ws, message) {
            ws.send(message)
            return new Promise(() => {})
          },
          close: () => new Promise(() => {}),
        })
        await kit.serve(app, async (live) => {
          const peer = await Peer.open(live, '/')
          for (let count = 0; count < 5; count++) assert.equal(await peer.send(`${count}`).text(), `${count}`)
          await peer.close(1000).closing()
          const other = await Peer.open(live, '/')
          assert.equal(await other.send('x').text(), 'x')
        })
      })
    })
  })
}
