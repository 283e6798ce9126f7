/** The typed client over a socket: streams, hooks, time, retries, redirects, and calls that are given up. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { contract } from 'volant'
import { ClientError, createClient } from 'volant/client'
import * as z from 'zod'
import { deferred, eventually, type Kit } from '../kit.ts'

export function client(kit: Kit): void {
  describe('client', () => {
    test('streams go both ways, chunk by chunk', async () => {
      const app = kit.app()
      const api = {
        size: app.post('/size', { bodyMode: 'stream' }, async (ctx) => {
          let size = 0
          for await (const chunk of ctx.bodyStream) size += chunk.length
          return {
            size,
            type: ctx.headers['content-type'] ?? null,
            length: ctx.headers['content-length'] ?? null,
          }
        }),
        count: app.get('/count', async function* () {
          for (let n = 0; n < 3; n++) {
            yield `${n}\n`
            await release[n]?.promise
          }
        }),
        form: app.post('/form', async (ctx) => {
          const form = await ctx.request.formData()
          const file = form.get('file') as File
          return { name: form.get('name'), file: await file.text(), called: file.name }
        }),
        events: app.get('/events', (ctx) =>
          ctx.stream(['data: 1\n\n'].values(), { type: 'text/event-stream' }),
        ),
      }
      const release = [deferred(), deferred()]
      app.expose(api)
      await kit.serve(app, async ({ address }) => {
        const client = createClient<typeof api>(address.url)
        const counted = await client.count()
        const reader = counted.data.pipeThrough(new TextDecoderStream()).getReader()
        assert.deepEqual(await reader.read(), { done: false, value: '0\n' })
        release[0]!.resolve()
        assert.deepEqual(await reader.read(), { done: false, value: '1\n' })
        release[1]!.resolve()
        assert.deepEqual(await reader.read(), { done: false, value: '2\n' })
        assert.equal((await reader.read()).done, true)

        const chunks = async function* () {
          for (let n = 0; n < 10; n++) yield Buffer.alloc(1000)
        }
        assert.deepEqual((await client.size({ body: ReadableStream.from(chunks()) })).data, {
          size: 10_000,
          type: null,
          length: null,
        })
        assert.equal((await client.size({ body: chunks() })).data.size, 10_000)
        assert.equal((await client.size({ body: Buffer.alloc(70_000) })).data.size, 70_000)

        const form = new FormData()
        form.set('name', 'ada')
        form.set('file', new Blob(['content']), 'a.txt')
        assert.deepEqual((await client.form({ body: form })).data, {
          name: 'ada',
          file: 'content',
          called: 'a.txt',
        })
        const events = (await client.events()).data
        assert.ok(events instanceof ReadableStream)
        assert.equal(await new Response(events).text(), 'data: 1\n\n')
      })
    })

    test('fields from a function, and hooks that see every request and reply', async () => {
      const app = kit.app()
      const api = {
        fields: app.get('/fields', (ctx) => ({
          token: ctx.headers['authorization'] ?? null,
          more: ctx.headers['x-more'] ?? null,
        })),
      }
      app.expose(api)
      await kit.serve(app, async ({ address }) => {
        const seen: string[] = []
        let turn = 0
        const client = createClient<typeof api>(address.url, {
          headers: async (operation) => ({ authorization: `${operation} ${++turn}` }),
          onRequest(request, operation) {
            seen.push(`${operation} > ${new URL(request.url).pathname}`)
            if (operation === 'fields') request.headers.set('x-more', 'hook')
          },
          onResponse(response, request, operation) {
            seen.push(`${operation} < ${response.status} ${request.method}`)
          },
        })
        assert.deepEqual((await client.fields()).data, { token: 'fields 2', more: 'hook' })
        assert.deepEqual(seen, [
          '/client.json > /client.json',
          '/client.json < 200 GET',
          'fields > /fields',
          'fields < 200 GET',
        ])
        const own = await client.fields({ headers: { authorization: 'input' } })
        assert.equal(own.data.token, 'input')
        const replaced = createClient<typeof api>(address.url, {
          onRequest: (request) => new Request(request, { headers: { authorization: 'other' } }),
          onResponse: async (response) =>
            response.url.endsWith('.json')
              ? undefined
              : Response.json({ token: await response.text(), more: null }),
        })
        assert.deepEqual((await replaced.fields()).data, {
          token: '{"token":"other","more":null}',
          more: null,
        })
        const failing = createClient<typeof api>(address.url, {
          headers: () => Promise.reject(new Error('no token')),
          retry: 3,
        })
        await assert.rejects(failing.fields(), { message: 'no token' })
      })
    })

    test('a hook repeats a request with its body, whatever that is', async () => {
      const app = kit.app()
      const api = {
        add: app.post('/add', (ctx) => {
          if (ctx.headers['authorization'] !== 'fresh') return ctx.reply(401)
          const { body } = ctx
          return { body: body instanceof Uint8Array ? [...body] : body }
        }),
      }
      app.expose(api)
      await kit.serve(app, async ({ address }) => {
        let tries = 0
        const client = createClient<typeof api>(address.url, {
          headers: { authorization: 'old' },
          onResponse(response, request) {
            if (response.status !== 401) return undefined
            tries++
            const headers = new Headers(request.headers)
            headers.set('authorization', 'fresh')
            return fetch(new Request(request, { headers }))
          },
        })
        const octets = { 'content-type': 'application/octet-stream' }
        assert.deepEqual((await client.add({ body: { n: 1 } })).data, { body: { n: 1 } })
        assert.deepEqual((await client.add({ body: new Uint8Array([1, 2]), headers: octets })).data, {
          body: [1, 2],
        })
        assert.deepEqual((await client.add({ body: new URLSearchParams({ a: 'b' }) })).data, {
          body: { a: 'b' },
        })
        assert.equal(tries, 3)
        // A stream is gone when it was sent.
        const streamed = client.add({ body: new Blob(['x']).stream(), headers: octets })
        await assert.rejects(streamed, { name: 'TypeError' })
      })
    })

    test('an aborted call ends on both sides, and so does one that takes too long', async () => {
      const app = kit.app()
      const state = { started: 0, aborted: 0 }
      const api = {
        slow: app.get('/slow', async (ctx) => {
          state.started++
          await new Promise<void>((resolve) => ctx.signal.addEventListener('abort', () => resolve()))
          state.aborted++
        }),
        endless: app.get('/endless', async function* (ctx) {
          for (;;) {
            yield 'x'
            await new Promise((resolve) => setTimeout(resolve, 5))
            if (ctx.signal.aborted) state.aborted++
          }
        }),
      }
      app.expose(api)
      await kit.serve(app, async ({ address }) => {
        const client = createClient<typeof api>(address.url)
        const controller = new AbortController()
        const call = client.slow({}, { signal: controller.signal })
        await eventually(() => state.started === 1, 'the handler started')
        const reason = new Error('enough')
        controller.abort(reason)
        await assert.rejects(call, reason)
        await eventually(() => state.aborted === 1, 'the handler was told')
        await assert.rejects(client.slow({}, { signal: AbortSignal.abort(reason) }), reason)

        const late = await client.slow({}, { timeout: 30 }).catch((error: unknown) => error)
        assert.ok(late instanceof ClientError)
        assert.equal(late.message, 'slow: no reply within 30 ms')
        assert.equal((late.cause as DOMException).name, 'TimeoutError')
        await eventually(() => state.aborted === state.started, 'the handlers were told')

        // The time is that of the call: what it gave is read after it.
        const stop = new AbortController()
        let timeout = 200
        const begin = () => client.endless({}, { timeout, signal: stop.signal })
        // A busy machine may need longer for the head.
        const { data } = await begin().catch(() => {
          timeout = 5_000
          return begin()
        })
        const reader = data.getReader()
        const until = Date.now() + timeout + 50
        while (Date.now() < until) assert.equal((await reader.read()).done, false)
        stop.abort(reason)
        await assert.rejects(async () => {
          for (;;) await reader.read()
        }, reason)
      })
    })

    test('a call is tried again where it can be, as often as it may', async () => {
      const app = kit.app()
      let tries = 0
      let refusals = 0
      let status = 503
      let after: string | null = null
      const busy = (ctx: {
        header(name: string, value: string): unknown
        reply(status: number): never
      }): boolean => {
        tries++
        if (refusals-- <= 0) return false
        if (after !== null) ctx.header('retry-after', after)
        ctx.reply(status)
        return true
      }
      const api = {
        get: app.get('/get', (ctx) => (busy(ctx as never) ? undefined : { tries })),
        put: app.put('/put', (ctx) => (busy(ctx as never) ? undefined : { tries, body: ctx.body })),
        post: app.post('/post', (ctx) => (busy(ctx as never) ? undefined : { tries, body: ctx.body })),
      }
      app.expose(api)
      await kit.serve(app, async ({ address }) => {
        const seen: number[] = []
        const client = createClient<typeof api>(address.url, {
          retry: { count: 2, delay: 1 },
          onResponse: ({ status: each }, _, operation) => void (operation.startsWith('/') || seen.push(each)),
        })
        const set = (count: number, code = 503, wait: string | null = null): void => {
          tries = 0
          refusals = count
          status = code
          after = wait
          seen.length = 0
        }
        for (const code of [429, 502, 503, 504]) {
          set(2, code)
          assert.deepEqual((await client.get()).data, { tries: 3 })
          assert.deepEqual(seen, [code, code, 200])
        }
        set(3)
        await assert.rejects(client.get(), { name: 'ClientError', status: 503 })
        assert.equal(tries, 3)
        set(1, 500)
        await assert.rejects(client.get(), { status: 500 })
        assert.equal(tries, 1)
        set(1, 503)
        await assert.rejects(client.get({}, { retry: 0 }), { status: 503 })
        assert.equal(tries, 1)
        set(1)
        assert.deepEqual((await client.put({ body: { a: 1 } })).data, { tries: 2, body: { a: 1 } })
        set(1)
        await assert.rejects(client.put({ body: new Blob(['x']).stream() }), { status: 503 })
        assert.equal(tries, 1)
        set(1)
        await assert.rejects(client.post({ body: { a: 1 } }), { status: 503 })
        assert.equal(tries, 1)
        set(1)
        const repeatable = { count: 1, delay: 1, methods: ['POST'], statuses: [503] }
        assert.deepEqual((await client.post({ body: 5 }, { retry: repeatable })).data, { tries: 2, body: 5 })

        set(1, 503, '1')
        let since = performance.now()
        await client.get()
        assert.ok(performance.now() - since >= 995, `${performance.now() - since} ms`)
        set(1, 503, '60')
        await assert.rejects(client.get(), { status: 503 })
        assert.equal(tries, 1)
        set(1, 503, new Date(Date.now() - 5000).toUTCString())
        assert.deepEqual((await client.get()).data, { tries: 2 })
        set(1, 503, 'rubbish')
        assert.deepEqual((await client.get()).data, { tries: 2 })

        set(5)
        since = performance.now()
        const waiting = client.get({}, { retry: { count: 5, delay: 5000 }, timeout: 50 })
        await assert.rejects(waiting, { name: 'ClientError', message: 'get: no reply within 50 ms' })
        assert.ok(performance.now() - since < 4500)
      })

      let lost = 2
      const flaky = createClient<typeof api>('http://server.test', {
        retry: { count: 2, delay: 1 },
        fetch: async (request) => {
          if (lost-- > 0) throw new TypeError('fetch failed')
          return app.fetch(request)
        },
      })
      refusals = 0
      assert.equal((await flaky.get()).ok, true)
      lost = 3
      await assert.rejects(flaky.get(), {
        name: 'ClientError',
        message: 'get: no reply from http://server.test/get: fetch failed',
      })
    })

    test('redirects are results where they are declared, and followed only when asked', async () => {
      const app = kit.app()
      const other = kit.app()
      const keys: unknown[] = []
      other.get('/there', (ctx) => {
        keys.push(ctx.headers['x-key'])
        return { there: true }
      })
      await kit.serve(other, async (there) => {
        const away = `${there.address.url}/there`
        const response = z.object({ there: z.boolean() })
        const tree = {
          away: contract.get('/away', { response }),
          post: contract.post('/post', { response }),
          found: contract.get('/found', { response: { 302: null } }),
        }
        // As a proxy in front of the API would.
        app.get('/away', (ctx) => ctx.redirect(away))
        app.post('/post', (ctx) => ctx.redirect(away, 307))
        app.implement(tree.found, (ctx) => ctx.redirect(away))
        await kit.serve(app, async ({ address }) => {
          const client = createClient(tree, address.url, { headers: { 'x-key': 'secret' } })
          const message = /it leads elsewhere/
          await assert.rejects(client.away(), { name: 'ClientError', status: 302, message })
          await assert.rejects(client.post({ body: { a: 1 } }), { status: 307, message })
          const found = await client.found()
          assert.ok(found.ok && found.status === 302)
          assert.equal(found.data, undefined)
          assert.equal(found.response.headers.get('location'), away)
          assert.deepEqual(keys, [])
          assert.deepEqual((await client.away({}, { init: { redirect: 'follow' } })).data, { there: true })
          assert.deepEqual(keys, ['secret'])
        })
      })
      // What browsers give: https://fetch.spec.whatwg.org/#concept-filtered-response-opaque-redirect
      const opaque = Object.defineProperties(new Response(null), {
        type: { value: 'opaqueredirect' },
        status: { value: 0 },
        ok: { value: false },
      })
      const routes = { away: ['GET', '/away'] } as const
      const page = createClient<{ away: { method: 'GET'; path: '/away' } }>('http://a.test', {
        routes,
        fetch: async () => opaque,
      })
      await assert.rejects(page.away(), { name: 'ClientError', status: 0, message: /it leads elsewhere/ })
    })

    test('a wrong address is told with what there is, and by which call', async () => {
      const app = kit.app()
      const api = { books: { list: app.get('/books', () => 1), get: app.get('/books/:id', () => 1) } }
      app.get('/moved/client.json', (ctx) => ctx.redirect('/client.json'))
      const messageOf = (promise: Promise<unknown>): Promise<string> =>
        promise.then(String, (error: unknown) => {
          assert.ok(error instanceof ClientError, String(error))
          assert.ok(error.message.startsWith(`${error.operation}: `))
          return `${error.status} ${error.message}`
        })
      await kit.serve(app, async ({ address }) => {
        // Nothing is exposed.
        const { books } = createClient<typeof api>(`${address.url}/api/`)
        const told = `${address.url}/api/client.json is 404: does the app call app.expose(api), and is this the API's address?`
        assert.deepEqual(
          await Promise.all([messageOf(books.list()), messageOf(books.get({ params: { id: 1 } }))]),
          [`404 books.list: ${told}`, `404 books.get: ${told}`],
        )
        const moved = createClient<typeof api>(`${address.url}/moved`)
        assert.match(
          await messageOf(moved.books.list()),
          /^302 books\.list: https?:\/\/\S+\/moved\/client\.json: the reply 302 is not declared: it leads elsewhere/,
        )
        const secure = createClient<typeof api>(address.url.replace('http', 'https'))
        assert.match(
          await messageOf(secure.books.list()),
          /^0 books\.list: no reply from https:\/\/\S+\/client\.json: (?!fetch failed)./,
        )
      })
      // Never asked anything: a connection that is kept would end otherwise.
      let origin = ''
      await kit.serve(kit.app(), async ({ address }) => void (origin = address.url))
      const gone = createClient<typeof api>(origin)
      assert.match(
        await messageOf(gone.books.list()),
        /^0 books\.list: no reply from http:\/\/\S+\/client\.json: .*ECONNREFUSED/,
      )
      const cause = Object.assign(new Error(''), { code: 'ECONNREFUSED' })
      const table = { 'books.list': ['GET', '/books'] } as const
      for (const [reason, words] of [
        [new TypeError('fetch failed', { cause }), 'ECONNREFUSED'],
        [new TypeError('fetch failed'), 'fetch failed'],
        ['text', 'text'],
        [undefined, 'undefined'],
      ] as const) {
        const fetch = (): Promise<never> => Promise.reject(reason)
        const query = { token: 'secret' }
        const { books } = createClient<typeof api>('http://a.test/b', { fetch, routes: table })
        assert.equal(
          await messageOf(books.list({ query })),
          `0 books.list: no reply from http://a.test/b/books: ${words}`,
        )
      }
      // What a hook throws is its own.
      const other = createClient<typeof api>('http://a.test', {
        headers: () => Promise.reject(new ClientError('token.get', 'no')),
      })
      await assert.rejects(other.books.list(), { message: 'token.get: no' })
      const none = createClient<typeof api>('http://a.test', { headers: () => Promise.reject() })
      assert.equal(await none.books.list().catch((reason: unknown) => reason), undefined)
    })
  })
}
