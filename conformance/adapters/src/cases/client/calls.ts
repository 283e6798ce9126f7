import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createClient } from 'volant/client'
import { deferred, type Kit } from '../../kit.ts'

export function callsOfClients(kit: Kit): void {
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
  })
}
