import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, test, type TestContext } from 'node:test'
import { cors, type HTTPError } from 'volant'
import { timeout } from 'volant/middleware'
import { deferred, eventually, type Kit, request } from '../../kit.ts'

/** Times that no other timer has, and that no case waits for, in milliseconds. */
const [soon, farAway] = [86_399_998, 86_399_999]

/** The time limit of `timeout()`. */
export function handlerTimeouts(kit: Kit): void {
  describe('protection', () => {
    const codeOf = (reply: { json(): unknown }): unknown => (reply.json() as { code: string }).code

    test('a slow handler is answered with 503, its signal aborted, and the connection goes on', async (t) => {
      const reports: unknown[] = []
      const app = kit.app({ report: (error) => void reports.push(error) })
      app.use('/slow', timeout(soon))
      app.use('/stream', timeout(farAway))
      app.use(cors({ origin: 'https://app.example' }))
      const [begun, aborted] = [deferred(), deferred()]
      app.get('/slow', async (ctx) => {
        begun.resolve()
        await once(ctx.signal, 'abort')
        aborted.resolve()
        return 'too late'
      })
      const isOver = deferred()
      app.get('/stream', (ctx) =>
        ctx.stream(
          (async function* () {
            yield 'begun, '
            await isOver.promise
            yield 'ended'
          })(),
        ),
      )
      const pass = timersOf(t)
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send(request('GET', '/slow', { origin: 'https://app.example' }))
        await begun.promise
        pass(soon)
        const reply = await wire.reply()
        assert.deepEqual([reply.status, codeOf(reply)], [503, 'E_HANDLER_TIMEOUT'])
        assert.equal(reply.headers['access-control-allow-origin'], 'https://app.example')
        await aborted.promise
        wire.send(request('GET', '/stream'))
        await wire.until(() => wire.received.includes('begun, ') || undefined, 'the stream')
        pass(farAway)
        isOver.resolve()
        assert.equal((await wire.reply()).text, 'begun, ended')
      })
      assert.deepEqual(reports, [])
    })

    test('a stream that has begun is cut off where that is asked for', async (t) => {
      const reports: unknown[] = []
      const app = kit.app({ report: (error) => void reports.push(error) })
      const outcomes: unknown[] = []
      app.onResponse((_, { aborted, error }) => void outcomes.push([aborted, (error as HTTPError).code]))
      app.use(timeout(farAway, { streams: true }))
      const cancelled = deferred()
      app.get('/endless', (ctx) => {
        ctx.signal.addEventListener('abort', () => cancelled.resolve())
        return ctx.stream(
          (async function* () {
            yield 'begun'
            await new Promise(() => {})
          })(),
        )
      })
      const pass = timersOf(t)
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send(request('GET', '/endless'))
        await wire.until(() => wire.received.includes('begun') || undefined, 'the stream')
        pass(farAway)
        await assert.rejects(wire.reply())
        await cancelled.promise
        await eventually(() => outcomes.length === 1, 'the request is over')
        assert.deepEqual(outcomes, [[true, 'E_HANDLER_TIMEOUT']])
        assert.deepEqual(
          reports.map((error) => (error as HTTPError).code),
          ['E_HANDLER_TIMEOUT'],
        )
      })
    })
  })
}

/** Gives a function that ends the timer which was started last with so many milliseconds, at once. */
function timersOf(t: TestContext): (ms: number) => void {
  const start = globalThis.setTimeout as (run: (...given: unknown[]) => void, ...rest: unknown[]) => unknown
  const ends = new Map<unknown, () => void>()
  t.mock.method(
    globalThis,
    'setTimeout',
    (run: (...given: unknown[]) => void, after: unknown, ...given: unknown[]) => {
      ends.set(after, () => run(...given))
      return start(run, after, ...given)
    },
  )
  return (ms) => (ends.get(ms) ?? assert.fail(`there is no timer of ${ms} ms`))()
}
