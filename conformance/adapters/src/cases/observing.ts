import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { channel, subscribe, unsubscribe } from 'node:diagnostics_channel'
import { describe, test } from 'node:test'
import { type Context, HTTPError, middleware, type ResponseInfo } from 'volant'
import { eventually, type Kit, request, turns } from '../kit.ts'
import { frameworkClock, passes } from '../time-limit.ts'

/** What watches requests: onResponse, lifecycle hooks, diagnostics channels. */
export function observing(kit: Kit): void {
  describe('onResponse', () => {
    test('is told once of every request, whatever became of it', async () => {
      const begun = performance.now()
      const app = kit.app({ limits: { maxBodySize: 10 } })
      const seen: [string, number, boolean, string | null][] = []
      app.onResponse((ctx, info) => {
        // In milliseconds, and no longer than the case runs.
        assert.ok(info.duration >= 0 && info.duration < performance.now() - begun)
        seen.push([
          ctx.path,
          info.status,
          info.aborted,
          info.error instanceof Error ? info.error.message : null,
        ])
      })
      app.get('/value', () => ({ a: 1 }))
      app.get('/async', async (ctx) => ctx.text('x', 201))
      app.get('/teapot', () => {
        throw new HTTPError(418, 'short')
      })
      app.get('/broken', async () => {
        throw new Error('broken')
      })
      app.get('/empty', () => {})
      app.get('/stream', (ctx) => {
        ctx.stream(
          (async function* () {
            yield 'a'
            await Promise.resolve()
            yield 'b'
          })(),
        )
      })
      app.get('/late', (ctx) => {
        ctx.text('reply')
        return turns()
      })
      await kit.serve(app, async (live) => {
        for (const path of ['/value', '/async', '/teapot', '/broken', '/empty', '/stream', '/none']) {
          await live.ask(path)
        }
        await live.ask('/value', { method: 'DELETE' })
        await live.ask('/value', { method: 'HEAD' })
        await live.ask('/late')
        await eventually(() => seen.length >= 10, 'ten requests told of')
      })
      assert.deepEqual(
        seen.map(([path, status, aborted, error]) => [path, status, aborted, error !== null]),
        [
          ['/value', 200, false, false],
          ['/async', 201, false, false],
          ['/teapot', 418, false, true],
          ['/broken', 500, false, true],
          ['/empty', 204, false, false],
          ['/stream', 200, false, false],
          ['/none', 404, false, true],
          ['/value', 405, false, true],
          ['/value', 200, false, false],
          ['/late', 200, false, false],
        ],
      )
    })

    test('is told of clients that leave, a route’s time limit and sources that fail', async (t) => {
      const clock = frameworkClock(t)
      const app = kit.app()
      const seen: ResponseInfo[] = []
      app.onResponse((_, info) => void seen.push(info))
      app.get('/wait', (ctx) => new Promise((resolve) => ctx.signal.addEventListener('abort', resolve)))
      app.get('/own', { handlerTimeout: 30_000 }, () => new Promise(() => {}))
      app.get('/cut', (ctx) => {
        ctx.stream(
          (async function* () {
            yield 'part'
            await Promise.resolve()
            throw new Error('source')
          })(),
        )
      })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send(request('GET', '/wait'))
        await eventually(() => app.stats().inFlight === 1, 'the request runs')
        wire.reset()
        await eventually(() => seen.length === 1, 'the client left')
        assert.equal(seen[0]?.status, 499)
        assert.equal(seen[0]?.aborted, true)

        const own = (await live.connect()).send(request('GET', '/own'))
        await passes(clock, 30_000, () => own.received.length > 0, 'the reply')
        assert.equal((await own.reply()).status, 503)
        await eventually(() => seen.length === 2, 'the route’s own limit')
        assert.deepEqual([seen[1]?.status, seen[1]?.aborted], [503, false])

        await live.ask('/cut').catch(() => {})
        await eventually(() => seen.length === 3, 'the source failed')
        assert.deepEqual(
          [seen[2]?.status, seen[2]?.aborted, (seen[2]?.error as Error | undefined)?.message],
          [200, true, 'source'],
        )
      })
    })

    test('is told of the app’s time limit', async (t) => {
      const clock = frameworkClock(t)
      const app = kit.app({ limits: { handlerTimeout: 30_000 } })
      const seen: ResponseInfo[] = []
      app.onResponse((_, info) => void seen.push(info))
      app.get('/never', () => new Promise(() => {}))
      await kit.serve(app, async (live) => {
        const wire = (await live.connect()).send(request('GET', '/never'))
        await passes(clock, 30_000, () => wire.received.length > 0, 'the reply')
        assert.equal((await wire.reply()).status, 503)
        await eventually(() => seen.length === 1, 'the app’s limit')
        assert.equal(seen[0]?.status, 503)
        assert.equal((seen[0]?.error as HTTPError | undefined)?.code, 'E_HANDLER_TIMEOUT')
      })
    })

    test('belongs to its scope or middleware; what it throws is reported', async () => {
      const app = kit.app()
      const seen: string[] = []
      app.onResponse(() => void seen.push('app'))
      app.group('/g', (g) => {
        g.onResponse(() => void seen.push('group'))
        g.get('/x', () => 1)
      })
      const listening = middleware({ onResponse: () => void seen.push('middleware') }, (_, next) => next())
      app.get('/m', listening, () => 1)
      app.get(
        '/bad',
        middleware({ onResponse: () => JSON.parse('{') as void }, (_, next) => next()),
        () => 1,
      )
      await kit.serve(app, async (live) => {
        await live.ask('/g/x')
        assert.deepEqual(seen.splice(0), ['app', 'group'])
        await live.ask('/m')
        assert.deepEqual(seen.splice(0), ['app', 'middleware'])
        assert.equal((await live.ask('/bad')).status, 200)
        assert.ok(kit.reports.at(-1) instanceof SyntaxError)
      })
    })
  })

  describe('asynchronous listeners', () => {
    test('what onResponse rejects with is reported; what report rejects with ends nothing', async () => {
      const reports: unknown[] = []
      const app = kit.app({
        report: async (error) => {
          reports.push(error)
          throw new Error('report')
        },
      })
      app.onResponse(async (ctx) => {
        await Promise.resolve()
        if (ctx.path === '/x') throw new Error('listener')
      })
      app.get('/x', () => 'x')
      app.get('/fails', () => {
        throw new Error('handler')
      })
      const said: string[] = []
      const { write } = process.stderr
      process.stderr.write = ((text: string) => said.push(text) > 0) as typeof write
      try {
        await kit.serve(app, async (live) => {
          assert.equal((await live.ask('/x')).text, 'x')
          assert.equal((await live.ask('/fails')).status, 500)
          await eventually(() => said.length === 2, 'two words on what report threw')
        })
      } finally {
        process.stderr.write = write
      }
      assert.deepEqual(
        reports.map((error) => (error as Error).message),
        ['listener', 'handler'],
      )
      for (const text of said) assert.match(text, /the report option threw: Error: report/)
    })
  })

  describe('lifecycle hooks', () => {
    test('run in order, once, and the last onClose first', async () => {
      const app = kit.app()
      const order: string[] = []
      const note = (text: string) => async () => {
        await Promise.resolve()
        order.push(text)
      }
      const inner = kit.app()
      inner.onStart(note('inner start')).onReady(note('inner ready')).onClose(note('inner close'))
      app.onStart(note('start')).onReady(note('ready')).onClose(note('close 1')).onClose(note('close 2'))
      app.mount('/inner', inner)
      app.onReady((address) => void order.push(`port ${address.port !== null && address.port > 0}`))
      app.get('/', () => 1)
      await app.inject('/')
      assert.deepEqual(order.splice(0), ['start', 'inner start'])
      await kit.serve(app, async () => {
        assert.deepEqual(order.splice(0), ['ready', 'port true', 'inner ready'])
      })
      assert.deepEqual(order, ['inner close', 'close 2', 'close 1'])
    })

    test('a failing onStart is the failure of listen; a failing onReady closes again; onClose runs to the end', async () => {
      const first = kit.app()
      first.onStart(() => {
        throw new Error('no start')
      })
      await assert.rejects(first.listen({ port: 0, host: '127.0.0.1' }), /no start/)
      const second = kit.app()
      let closed = 0
      second.onReady(() => Promise.reject(new Error('not ready')))
      second.onClose(() => void closed++)
      await assert.rejects(second.listen({ port: 0, host: '127.0.0.1' }), /not ready/)
      assert.equal(closed, 1)
      const third = kit.app()
      third.onClose(() => void closed++)
      third.onClose(() => Promise.reject(new Error('close failed')))
      await third.listen({ port: 0, host: '127.0.0.1' })
      await assert.rejects(third.close(), /close failed/)
      assert.equal(closed, 2)
      for (const hook of ['onStart', 'onReady', 'onClose', 'onResponse'] as const) {
        assert.throws(() => kit.app()[hook](null as never), {
          code: 'E_BAD_HANDLER',
          message: new RegExp(hook),
        })
      }
    })
  })

  describe('diagnostics channels', () => {
    test('start, finish and error; bound stores are there in the handler', async () => {
      const app = kit.app()
      const span = new AsyncLocalStorage<string>()
      app.get('/ok/:id', async (ctx) => {
        await Promise.resolve()
        return { span: span.getStore() ?? null, id: ctx.params.id }
      })
      app.get('/bad', () => {
        throw new HTTPError(409, 'conflict')
      })
      const events: string[] = []
      const onStart = (message: unknown) => {
        const { ctx } = message as { ctx: Context }
        events.push(`start ${ctx.method} ${ctx.pattern}`)
      }
      const onFinish = (message: unknown) => {
        const { ctx, status, duration } = message as { ctx: Context } & ResponseInfo
        assert.equal(typeof duration, 'number')
        events.push(`finish ${ctx.path} ${status}`)
      }
      const onError = (message: unknown) => {
        const { error } = message as { error: Error }
        events.push(`error ${error.message}`)
      }
      const start = channel('volant.request.start')
      await kit.serve(app, async (live) => {
        assert.deepEqual((await live.ask('/ok/1')).json(), { span: null, id: '1' })
        start.bindStore(span, (message) => `span of ${(message as { ctx: Context }).ctx.path}`)
        subscribe('volant.request.start', onStart)
        subscribe('volant.request.finish', onFinish)
        subscribe('volant.request.error', onError)
        try {
          assert.deepEqual((await live.ask('/ok/2')).json(), { span: 'span of /ok/2', id: '2' })
          await live.ask('/bad')
          await eventually(() => events.length === 5, 'five events')
        } finally {
          start.unbindStore(span)
          unsubscribe('volant.request.start', onStart)
          unsubscribe('volant.request.finish', onFinish)
          unsubscribe('volant.request.error', onError)
        }
        assert.deepEqual((await live.ask('/ok/3')).json(), { span: null, id: '3' })
      })
      assert.deepEqual(events, [
        'start GET /ok/:id',
        'finish /ok/2 200',
        'start GET /bad',
        'error conflict',
        'finish /bad 409',
      ])
    })
  })
}
