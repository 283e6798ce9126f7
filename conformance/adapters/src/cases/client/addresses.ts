import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { contract } from 'volant'
import { ClientError, createClient } from 'volant/client'
import * as z from 'zod'
import { type Kit } from '../../kit.ts'

export function addressesOfClients(kit: Kit): void {
  describe('client', () => {
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
