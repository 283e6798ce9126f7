import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type AppOptions, cors, createApp, metrics, type VolantError } from 'volant'
import { type Kit, request } from '../../kit.ts'
import { sorted } from './names.ts'

const names = ['PROPFIND', 'PURGE', 'LINK']

const refused = (name: string) => (error: VolantError) =>
  error.code === 'E_BAD_OPTION' && error.message.includes(name)

/** Methods that `router.methods` adds. */
export function additionalMethods(kit: Kit): void {
  describe('router.methods', () => {
    const build = () => {
      const app = kit.app({ router: { methods: names } })
      app.on(['PURGE', 'LINK'], '/x/:id', (ctx) => [ctx.method, ctx.params.id])
      app.get('/x/:id', (ctx) => [ctx.method])
      app.on(['PROPFIND'], '/dav/*', (ctx) => ({ method: ctx.method, body: ctx.bodyText }))
      app.put('/put', () => 'put')
      return app
    }

    test('routes have them', async () => {
      await kit.serve(build(), async (live) => {
        for (const method of ['PURGE', 'LINK']) {
          assert.deepEqual((await live.ask('/x/7', { method })).json(), [method, '7'])
        }
        assert.deepEqual((await live.ask('/x/7')).json(), ['GET'])
        const body = '<propfind/>'
        const reply = await live.ask('/dav/a/b', { method: 'PROPFIND', body })
        assert.deepEqual(reply.json(), { method: 'PROPFIND', body })
      })
    })

    test('405 and OPTIONS name them', async () => {
      await kit.serve(build(), async (live) => {
        const of = async (path: string, method: string) => {
          const { status, headers } = await live.ask(path, { method })
          return [status, sorted(headers['allow'])]
        }
        const all = ['GET', 'HEAD', 'LINK', 'OPTIONS', 'PURGE']
        assert.deepEqual(await of('/x/7', 'PROPFIND'), [405, all])
        assert.deepEqual(await of('/x/7', 'POST'), [405, all])
        assert.deepEqual(await of('/x/7', 'OPTIONS'), [204, all])
        assert.deepEqual(await of('/dav/x', 'PURGE'), [405, ['OPTIONS', 'PROPFIND']])
        assert.deepEqual(await of('/put', 'LINK'), [405, ['OPTIONS', 'PUT']])
        assert.deepEqual(await of('/none', 'LINK'), [404, undefined])
        // Others stay unknown.
        assert.deepEqual(await of('/x/7', 'UNLINK'), [501, undefined])
        assert.deepEqual(await of('/x/7', 'purge'), [501, undefined])
      })
    })

    test('all has them as well', async () => {
      const app = kit.app({ router: { methods: ['PURGE'] } })
      app.all('/x', (ctx) => ctx.method)
      await kit.serve(app, async (live) => {
        for (const method of ['GET', 'PURGE', 'QUERY', 'OPTIONS'])
          assert.equal((await live.ask('/x', { method })).text, method)
      })
    })

    test('the method is there after other requests came', async () => {
      const app = kit.app({ router: { methods: ['PURGE'] } })
      let go!: () => void
      const others = new Promise<void>((resolve) => (go = resolve))
      app.on(['PURGE'], '/late', async (ctx) => {
        await others
        return [ctx.method, ctx.request.method]
      })
      app.get('/other', () => go())
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send(request('PURGE', '/late'))
        for (let count = 0; count < 3; count++) await live.ask('/other')
        assert.deepEqual((await wire.reply()).json(), ['PURGE', 'PURGE'])
      })
    })

    test('pipelined, one runs after the other', async () => {
      const app = kit.app({ router: { methods: ['PURGE'] } })
      const order: string[] = []
      app.on(['GET', 'PURGE'], '/:id', async (ctx) => {
        order.push(`${ctx.params.id} begins`)
        await new Promise((resolve) => setImmediate(resolve))
        order.push(`${ctx.params.id} ends`)
        return ctx.params.id
      })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        const requests = [request('PURGE', '/1'), request('PURGE', '/2'), request('GET', '/3')]
        const replies: string[] = []
        for await (const reply of kit.replies(wire, requests)) replies.push(reply.text)
        assert.deepEqual(replies, ['1', '2', '3'])
        const expected = ['1', '2', '3'].flatMap((id) => [`${id} begins`, `${id} ends`])
        assert.deepEqual(order, expected)
      })
    })

    test('two apps of a process have their own', async () => {
      const other = kit.app({ router: { methods: ['LOCK', 'PURGE'] } })
      other.on(['LOCK', 'PURGE'], '/x/7', (ctx) => `other ${ctx.method}`)
      await kit.serve(build(), async (live) => {
        await kit.serve(other, async (second) => {
          assert.deepEqual((await live.ask('/x/7', { method: 'PURGE' })).json(), ['PURGE', '7'])
          assert.equal((await second.ask('/x/7', { method: 'PURGE' })).text, 'other PURGE')
          assert.equal((await second.ask('/x/7', { method: 'LOCK' })).text, 'other LOCK')
          assert.equal((await live.ask('/x/7', { method: 'LOCK' })).status, 501)
        })
      })
    })

    test('a preflight allows them, and metrics count them', async () => {
      const app = kit.app({ router: { methods: ['PURGE'] } })
      const measured = metrics()
      app.use(measured)
      app.get('/figures', (ctx) =>
        measured.snapshot(ctx).routes.map(({ method, route, count }) => [method, route, count]),
      )
      app.use(cors({ origin: 'https://a.example', methods: ['GET', 'PURGE'] }))
      app.on(['PURGE'], '/x', () => 'gone')
      await kit.serve(app, async (live) => {
        const asked = { origin: 'https://a.example', 'access-control-request-method': 'PURGE' }
        const preflight = await live.ask('/x', { method: 'OPTIONS', headers: asked })
        assert.equal(preflight.headers['access-control-allow-methods'], 'GET, PURGE')
        const headers = { origin: 'https://a.example' }
        const reply = await live.ask('/x', { method: 'PURGE', headers })
        assert.equal(reply.headers['access-control-allow-origin'], 'https://a.example')
        const figures = (await live.ask('/figures')).json() as unknown[]
        assert.deepEqual(figures, [
          ['OPTIONS', 'unmatched', 1],
          ['PURGE', '/x', 1],
        ])
      })
    })

    test('24 of them, each with its route', async () => {
      // Every parser knows these methods.
      const many = (
        'ACL BIND CHECKOUT COPY LINK LOCK M-SEARCH MERGE MKACTIVITY MKCALENDAR MKCOL MOVE NOTIFY PROPFIND PROPPATCH PURGE ' +
        'REBIND REPORT SEARCH SOURCE SUBSCRIBE UNBIND UNLINK UNLOCK'
      ).split(' ')
      assert.equal(many.length, 24)
      const app = kit.app({ router: { methods: [...many, 'QUERY', 'GET', 'PURGE'] } })
      for (const method of many) app.on([method], '/x/:id', (ctx) => `${method} ${ctx.params.id}`)
      for (const method of many) app.on([method], '/fixed', () => `${method} fixed`)
      await kit.serve(app, async (live) => {
        for (const method of many) {
          assert.equal((await live.ask('/x/1', { method })).text, `${method} 1`)
          assert.equal((await live.ask('/fixed', { method })).text, `${method} fixed`)
        }
        const allow = sorted((await live.ask('/x/1')).headers['allow'])
        assert.deepEqual(allow, [...many, 'OPTIONS'].sort())
      })
    })

    test('a mounted app needs them in the app around it', async () => {
      const inside = kit.app({ router: { methods: ['PURGE'] } })
      inside.on(['PURGE'], '/x', () => 'gone')
      assert.throws(() => kit.app().mount('/in', inside), refused("{ methods: ['PURGE'] }"))
      const app = kit.app({ router: { methods: ['LINK', 'PURGE'] } })
      app.mount('/in', inside)
      await kit.serve(app, async (live) =>
        assert.equal((await live.ask('/in/x', { method: 'PURGE' })).text, 'gone'),
      )
    })

    test('a method the app does not have is refused', () => {
      assert.throws(() => kit.app().on(['PURGE'], '/x', () => 1), refused('router'))
      assert.throws(() => build().on(['UNLINK'], '/x', () => 1), refused('UNLINK'))
    })

    test('inject has them', async () => {
      const reply = await build().inject({ method: 'PURGE', url: '/x/7' })
      assert.deepEqual(reply.json(), ['PURGE', '7'])
      assert.equal((await build().inject({ method: 'UNLINK', url: '/x/7' })).status, 501)
    })

    test('a method that node:http cannot read is refused at the start', async () => {
      const app = kit.app({ router: { methods: ['PURGE', 'VERSION-CONTROL'] } })
      app.on(['VERSION-CONTROL'], '/x', (ctx) => ctx.method)
      if (kit.adapter === 'node-http') {
        await assert.rejects(
          app.listen({ port: 0 }),
          (error: VolantError) => error.code === 'E_ADAPTER' && error.message.includes('VERSION-CONTROL'),
        )
        return
      }
      await kit.serve(app, async (live) =>
        assert.equal((await live.ask('/x', { method: 'VERSION-CONTROL' })).text, 'VERSION-CONTROL'),
      )
    })

    const nonsense: [string, unknown][] = [
      ['PURGE', 'PURGE'],
      ['an object', {}],
      ['null', null],
      ['7', [7]],
      ['""', ['']],
      ['purge', ['purge']],
      ['A B', ['A B']],
      ['A/B', ['A/B']],
      ['É', ['É']],
      ['TRACE', ['PURGE', 'TRACE']],
      ['CONNECT', ['CONNECT']],
      ['PRI', ['PRI']],
      ['A'.repeat(33), ['A'.repeat(33)]],
      ['25', Array.from({ length: 25 }, (_, at) => `M${at}`)],
    ]
    for (const [name, value] of nonsense) {
      test(`${JSON.stringify(value)?.slice(0, 40)} is refused`, () => {
        assert.throws(
          () => kit.app({ router: { methods: value } } as AppOptions),
          (error: VolantError) =>
            error.code === 'E_BAD_OPTION' &&
            error.message.startsWith('router.methods') &&
            error.message.includes(name),
        )
      })
    }

    test('what is at the limit is not', () => {
      createApp({
        signals: false,
        router: { methods: ['A'.repeat(32), ...Array.from({ length: 23 }, (_, at) => `M${at}`)] },
      })
    })
  })
}
