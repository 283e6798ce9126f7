/** `ctx.log`, `app.log`, and `log` of `volant/log`: each line has the id of its request, wherever it is written. */
import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { describe, test } from 'node:test'
import { logger, requestId } from 'volant'
import { eventually, type Kit, request, turns, untilAborted } from '../kit.ts'

/** It is imported by these cases alone: from then on the requests of all apps are followed. */
const requestLog = async () => (await import('volant/log')).log

interface Line {
  level: number
  reqId?: string
  msg: string
  at?: string
  err?: { type: string; message: string; stack: string }
  res?: { statusCode: number }
}

export function logCases(kit: Kit): void {
  const appWith = () => {
    const lines: Line[] = []
    const destination = { write: (text: string) => void lines.push(JSON.parse(text) as Line) }
    return { app: kit.app({ log: { destination, level: 'debug' } }), lines }
  }

  describe('ctx.log and volant/log', () => {
    test('lines of a request share its id with the line of logger()', async () => {
      const { app, lines } = appWith()
      app.use(logger())
      app.use(requestId({ trust: true }))
      app.get('/paid/:id', (ctx) => {
        ctx.log.info({ at: ctx.params.id }, 'paid')
        return ctx.id
      })
      await kit.serve(app, async (live) => {
        assert.equal((await live.ask('/paid/7', { headers: { 'x-request-id': 'theirs' } })).text, 'theirs')
        await eventually(() => lines.length === 2, 'two lines')
      })
      assert.deepEqual(
        lines.map((line) => [line.reqId, line.msg]),
        [
          ['theirs', 'paid'],
          ['theirs', 'request completed'],
        ],
      )
      assert.equal(lines[0]?.at, '7')
    })

    test('100 requests at once: each line has the id of its request, after awaits, timers and events', async () => {
      const { app, lines } = appWith()
      const log = await requestLog()
      const deeper = log.child({ module: 'deep' })
      const work = async (id: string): Promise<void> => {
        log.info({ at: id }, 'await')
        await new Promise((resolve) => setTimeout(resolve))
        // They go on in another order.
        await turns(Number(id) % 7)
        log.info({ at: id }, 'timer')
        await new Promise<void>((resolve) => {
          setImmediate(() => {
            deeper.info({ at: id }, 'child')
            resolve()
          })
        })
        const emitter = new EventEmitter()
        setTimeout(() => emitter.emit('done'))
        await once(emitter, 'done')
        queueMicrotask(() => log.info({ at: id }, 'microtask'))
      }
      const ids = new Map<string, string>()
      app.get('/:id', async (ctx) => {
        ids.set(ctx.params.id, ctx.id)
        await work(ctx.params.id)
        return ctx.params.id
      })
      await kit.serve(app, async (live) => {
        await Promise.all(
          Array.from({ length: 10 }, async (_, connection) => {
            const wire = await live.connect()
            const sent = Array.from({ length: 10 }, (__, at) => request('GET', `/${connection * 10 + at}`))
            for await (const reply of kit.replies(wire, sent)) assert.equal(reply.status, 200)
          }),
        )
        await eventually(() => lines.length === 400, '400 lines')
      })
      for (const { at = '', reqId, msg } of lines) assert.equal(reqId, ids.get(at), `${msg} of ${at}`)
      assert.equal(new Set(ids.values()).size, 100)
    })

    test('a streamed body, the stream of the reply and the abort have the id, too', async () => {
      const log = await requestLog()
      const { app, lines } = appWith()
      let id = ''
      app.post('/x', { bodyMode: 'stream' }, async (ctx) => {
        id = ctx.id
        ctx.signal.addEventListener('abort', () => log.warn('abort'))
        for await (const chunk of ctx.bodyStream) log.debug('%d bytes', chunk.length)
        return (async function* () {
          yield 'x'
          await turns(1)
          log.info('reply')
          await untilAborted(ctx.signal)
        })()
      })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send(request('POST', '/x', {}, 'abc'))
        await eventually(() => lines.some(({ msg }) => msg === 'reply'), 'the reply')
        wire.reset()
        await eventually(() => lines.some(({ msg }) => msg === 'abort'), 'the abort')
      })
      const own = lines.filter(({ msg }) => ['3 bytes', 'reply', 'abort'].includes(msg))
      assert.deepEqual(
        own.map(({ msg, level, reqId }) => [msg, level, reqId]),
        [
          ['3 bytes', 20, id],
          ['reply', 30, id],
          ['abort', 40, id],
        ],
      )
    })

    test('outside of requests it is the logger of the app, without an id', async () => {
      const log = await requestLog()
      const { app, lines } = appWith()
      app.onReady(() => log.info('ready'))
      app.get('/x', () => 'x')
      await kit.serve(app, async (live) => {
        await live.ask('/x')
        log.info('between')
        app.log.info('app')
      })
      assert.deepEqual(
        lines.map(({ msg, reqId }) => [msg, reqId]),
        [
          ['ready', undefined],
          ['between', undefined],
          ['app', undefined],
        ],
      )
    })

    test('an error has its causes in the line, and the request goes on', async () => {
      const { app, lines } = appWith()
      app.get('/x', (ctx) => {
        ctx.log.error(new TypeError('outer', { cause: new Error('inner') }), 'failed')
        return 'x'
      })
      await kit.serve(app, async (live) => {
        assert.equal((await live.ask('/x')).text, 'x')
      })
      const [{ level, err, msg }] = lines as [Line]
      assert.deepEqual([level, err?.type, err?.message, msg], [50, 'TypeError', 'outer', 'failed'])
      assert.match(err?.stack ?? '', /caused by: Error: inner/)
    })
  })
}
