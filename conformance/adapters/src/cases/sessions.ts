import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { HTTPError } from 'volant'
import { compress } from 'volant/compress'
import { csrf, memorySessions, session, type SessionOptions, type SessionStore } from 'volant/session'
import { deferred, eventually, type Kit, type Live, request } from '../kit.ts'

const keys = ['k'.repeat(32)]

interface Data {
  user: string
  visits: number
  text: string
}

/** Sessions over sockets; what they hold and how they end is in `packages/volant/test/sessions/`. */
export function sessions(kit: Kit): void {
  describe('sessions', () => {
    let folder = ''
    before(() => {
      folder = mkdtempSync(join(tmpdir(), 'volant-'))
      writeFileSync(join(folder, 'a.txt'), 'file')
    })
    after(() => rmSync(folder, { recursive: true }))

    const cookieOf = ({ headers }: { headers: Record<string, string> }): string =>
      (headers['set-cookie'] ?? '').split(';')[0] as string
    const signedIn = async (live: Live, path = '/in'): Promise<string> => {
      const reply = await live.ask(path, { method: 'POST' })
      assert.equal(reply.status, 200, reply.text)
      return cookieOf(reply)
    }

    for (const kind of ['sealed', 'stored'] as const) {
      const options = (): SessionOptions => (kind === 'sealed' ? { keys } : { store: memorySessions() })

      test(`${kind}: every kind of reply carries what changed`, async () => {
        const app = kit.app()
        const scope = app.with(session<Data>(options()))
        scope.use((ctx, next) => {
          const { session: own } = ctx.state as { session: { set(key: string, value: number): void } }
          if (ctx.query['set'] !== undefined) own.set('visits', 1)
          return next()
        })
        scope.get('/value', () => ({ a: 1 }))
        scope.get('/late', async () => 'x')
        scope.get('/none', (ctx) => ctx.reply(204))
        scope.get('/stream', (ctx) => ctx.stream(['a', 'b']))
        scope.get('/file', (ctx) => ctx.file('a.txt', { root: folder }))
        scope.get('/redirect', (ctx) => ctx.redirect('/value', 303))
        scope.get('/error', () => {
          throw new HTTPError(418)
        })
        scope.get('/visits', (ctx) => String(ctx.state.session.get('visits')))
        await kit.serve(app, async (live) => {
          for (const [path, status] of [
            ['/value', 200],
            ['/late', 200],
            ['/none', 204],
            ['/stream', 200],
            ['/file', 200],
            ['/redirect', 303],
            ['/error', 418],
          ] as const) {
            for (const method of ['GET', 'HEAD']) {
              const reply = await live.ask(`${path}?set`, { method })
              assert.equal(reply.status, status, path)
              assert.equal(reply.headers['cache-control'], 'no-store', path)
              const cookie = cookieOf(reply)
              assert.match(cookie, /^__Host-session=/, path)
              assert.equal((await live.ask('/visits', { headers: { cookie } })).text, '1', path)
              assert.equal((await live.ask(path, { method })).headers['set-cookie'], undefined, path)
            }
          }
        })
      })

      test(`${kind}: a hundred requests of a browser over eight connections`, async () => {
        const app = kit.app()
        const scope = app.with(session<Data>(options()))
        scope.post('/in', (ctx) => {
          ctx.state.session.signIn({ user: 'ada' })
          return 'in'
        })
        scope.get('/user', (ctx) => ctx.state.session.get('user') ?? 'nobody')
        await kit.serve(app, async (live) => {
          const cookie = await signedIn(live)
          const bytes = Array.from({ length: 100 }, (_, at) =>
            request('GET', '/user', at % 2 === 0 ? { cookie } : {}),
          )
          const read = async (): Promise<string[]> => {
            const texts: string[] = []
            for await (const { text } of kit.replies(await live.connect(), bytes)) texts.push(text)
            return texts
          }
          const all = await Promise.all(Array.from({ length: 8 }, read))
          for (const texts of all) {
            assert.deepEqual(
              texts,
              Array.from({ length: 100 }, (_, at) => (at % 2 === 0 ? 'ada' : 'nobody')),
            )
          }
        })
      })

      test(`${kind}: beside compression and a hook of the app`, async () => {
        const app = kit.app()
        app.use(compress({ threshold: 1 }))
        app.onSend((_, reply) => reply.headers.set('x-hook', 'ran'))
        const scope = app.with(session<Data>(options()))
        scope.post('/in', (ctx) => {
          ctx.state.session.signIn({ user: 'ada' })
          return 'in'
        })
        scope.get('/user', (ctx) => `${ctx.state.session.get('user')}${'.'.repeat(2_000)}`)
        await kit.serve(app, async (live) => {
          const cookie = await signedIn(live)
          const reply = await live.ask('/user', { headers: { cookie, 'accept-encoding': 'gzip' } })
          assert.deepEqual([reply.headers['content-encoding'], reply.headers['x-hook']], ['gzip', 'ran'])
          assert.equal(reply.headers['set-cookie'], undefined)
        })
      })

      test(`${kind}: cookies that are malformed, doubled or long are no session, and no error`, async () => {
        const app = kit.app()
        const scope = app.with(session<Data>(options()))
        scope.get('/user', (ctx) => ctx.state.session.get('user') ?? 'nobody')
        await kit.serve(app, async (live) => {
          const name = '__Host-session='
          for (const cookie of [
            name,
            `${name}${'A'.repeat(32)}`,
            `${name}${'A'.repeat(6_000)}`,
            `${name}v1.AAAAAAAA.AAAAAAAAAAAAAAAA.AAAA`,
            `${name}%00; ${name}"x"; ${name}\u00ff`,
            `${name}..;;;; =; ${name}=; ; ${name}`,
            Array.from({ length: 300 }, (_, at) => `${name}${at}`).join(';'),
          ]) {
            const reply = await live.ask('/user', { headers: { cookie } })
            assert.deepEqual([reply.status, reply.text], [200, 'nobody'], cookie.slice(0, 60))
          }
        })
      })
    }

    test('what a request with a store changed is written before its reply leaves', async () => {
      const real = memorySessions()
      const gate = deferred()
      let writes = 0
      const store: SessionStore = {
        ...real,
        set: async (id, record) => {
          writes++
          await gate.promise
          return real.set(id, record)
        },
      }
      const app = kit.app()
      app.with(session<Data>({ store, storeTimeout: 60_000 })).post('/in', (ctx) => {
        ctx.state.session.signIn({ user: 'ada' })
        return 'in'
      })
      await kit.serve(app, async (live) => {
        let isAnswered = false
        const asked = live.ask('/in', { method: 'POST' }).then((reply) => {
          isAnswered = true
          return reply
        })
        await eventually(() => writes === 1, 'the session is written')
        assert.equal(isAnswered, false)
        gate.resolve()
        assert.match(cookieOf(await asked), /^__Host-session=/)
      })
    })

    test('a client that leaves before its reply: what was changed is written all the same', async () => {
      const real = memorySessions()
      const app = kit.app()
      const scope = app.with(session<Data>({ store: real }))
      const arrived = deferred()
      const left = deferred()
      scope.post('/in', (ctx) => {
        ctx.state.session.signIn({ user: 'ada' })
        return 'in'
      })
      scope.post('/slow', async (ctx) => {
        ctx.state.session.set('text', 'kept')
        ctx.signal.addEventListener('abort', () => left.resolve())
        arrived.resolve()
        await left.promise
        return 'x'
      })
      scope.get('/text', (ctx) => ctx.state.session.get('text') ?? 'none')
      await kit.serve(app, async (live) => {
        const cookie = await signedIn(live)
        const wire = await live.connect()
        wire.send(request('POST', '/slow', { cookie }))
        await arrived.promise
        wire.close()
        await left.promise
        let text = 'none'
        await eventually(async () => {
          text = (await live.ask('/text', { headers: { cookie } })).text
          return text !== 'none'
        }, 'the session is written')
        assert.equal(text, 'kept')
      })
    })

    test('a store that fails while it writes: 503, no cookie, and the connection goes on', async () => {
      const store: SessionStore = { ...memorySessions(), set: () => Promise.reject(new Error('full')) }
      const app = kit.app()
      const scope = app.with(session<Data>({ store }))
      scope.post('/in', (ctx) => {
        ctx.state.session.signIn({ user: 'ada' })
        return 'in'
      })
      scope.post('/stream', (ctx) => {
        ctx.state.session.set('text', 'x')
        ctx.stream(['a', 'b'])
      })
      scope.get('/x', () => 'x')
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        for (const path of ['/in', '/stream']) {
          const reply = await wire.send(request('POST', path)).reply()
          assert.deepEqual([reply.status, reply.headers['retry-after']], [503, '1'], path)
          assert.equal(reply.headers['set-cookie'], undefined)
          assert.equal((reply.json() as { code: string }).code, 'E_SESSION_STORE')
        }
        assert.equal((await wire.send(request('GET', '/x')).reply()).text, 'x')
      })
    })

    test('csrf refuses by the fields of the request, and a form passes with its token', async () => {
      const app = kit.app()
      const own = session<Data>({ keys })
      const scope = app.with(own).with(csrf({ token: true }))
      scope.get('/form', (ctx) => ctx.state.csrf.token())
      scope.post('/in', (ctx) => {
        ctx.state.session.signIn({ user: 'ada' })
        return ctx.state.csrf.token()
      })
      // The authentication has the body read late, and behind it.
      scope.with(own.signedIn('user')).post('/mine', async (ctx) => {
        const { name } = await ctx.form()
        return `${ctx.state.user} ${String(name)}`
      })
      scope.post('/form', async (ctx) => String((await ctx.form())['name']))
      await kit.serve(app, async (live) => {
        const page = await live.ask('/form')
        const cookie = cookieOf(page)
        const post = (headers: Record<string, string>, token: string) =>
          live.post('/form', 'application/x-www-form-urlencoded', `name=ada&_csrf=${token}`, {
            cookie,
            ...headers,
          })
        const { url } = live.address
        const here = { host: new URL(url).host, origin: new URL(url).origin }
        assert.equal((await post(here, page.text)).text, 'ada')
        assert.equal((await post({ 'sec-fetch-site': 'same-origin' }, page.text)).text, 'ada')
        for (const headers of [
          { 'sec-fetch-site': 'cross-site' },
          { 'sec-fetch-site': 'same-site' },
          { origin: 'https://attacker.example' },
          { origin: 'null' },
          {},
        ]) {
          const reply = await post(headers, page.text)
          assert.deepEqual([reply.status, (reply.json() as { code: string }).code], [403, 'E_CSRF'])
        }
        assert.equal((await post(here, 'A'.repeat(86))).status, 403)
        const signedIn = await live.ask('/in', {
          method: 'POST',
          headers: { ...here, cookie, 'x-csrf-token': page.text },
        })
        const mine = (token: string, size = 1) =>
          live.post('/mine', 'application/x-www-form-urlencoded', `name=${'x'.repeat(size)}&_csrf=${token}`, {
            ...here,
            cookie: cookieOf(signedIn),
          })
        assert.equal((await mine(signedIn.text)).text, 'ada x')
        assert.equal((await mine(signedIn.text, 200_000)).text, `ada ${'x'.repeat(200_000)}`)
        assert.equal((await mine(page.text)).status, 403)
      })
    })
  })
}
