/** `logger()` over a socket: a line when a reply is complete, the client left, or the source of a reply failed. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { logger } from 'volant'
import { deferred, eventually, type Kit, request } from '../kit.ts'

interface Line {
  level: number
  req: { url: string; remoteAddress: string }
  res: { statusCode: number }
  err?: { message: string }
  msg: string
}

export function loggerCases(kit: Kit): void {
  const appWith = () => {
    const lines: Line[] = []
    const app = kit.app()
    app.use(logger({ destination: { write: (text) => void lines.push(JSON.parse(text) as Line) } }))
    return { app, lines }
  }

  describe('logger', () => {
    test('a line for a reply', async () => {
      const { app, lines } = appWith()
      app.get('/x', () => 'x')
      await kit.serve(app, async (live) => {
        await live.ask('/x?a=1')
        await eventually(() => lines.length === 1, 'a line')
      })
      const [{ level, req, res }] = lines as [Line]
      assert.deepEqual([level, req.url, req.remoteAddress, res.statusCode], [30, '/x?a=1', '127.0.0.1', 200])
    })

    test('a client that leaves is told of', async () => {
      const { app, lines } = appWith()
      const entered = deferred()
      app.get('/wait', async (ctx) => {
        entered.resolve()
        await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
      })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send(request('GET', '/wait?id=1'))
        await entered.promise
        wire.reset()
        await eventually(() => lines.length === 1, 'a line')
      })
      const [line] = lines as [Line]
      assert.equal(line.msg, 'request aborted')
      assert.equal(line.level, 40)
      assert.equal(line.res.statusCode, 499)
      assert.equal(line.req.url, '/wait?id=1')
      assert.equal(line.err, undefined)
    })

    test('a reply whose source fails is an error', async () => {
      const { app, lines } = appWith()
      const arrived = deferred()
      app.get('/cut', (ctx) =>
        ctx.stream(
          (async function* () {
            yield 'a'
            await arrived.promise
            throw new Error('source failed')
          })(),
        ),
      )
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send(request('GET', '/cut'))
        if (kit.can('streamed-head'))
          await wire.until(() => (wire.received.includes('a') ? true : undefined), 'the first part')
        arrived.resolve()
        await wire.closed
        await eventually(() => lines.length === 1, 'a line')
      })
      const [line] = lines as [Line]
      assert.deepEqual([line.level, line.msg, line.err?.message], [50, 'request aborted', 'source failed'])
    })
  })
}
