import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { App, InjectOptions } from 'volant'
import type { Kit } from '../kit.ts'

function build(kit: Kit): App {
  const app = kit.app({ limits: { maxBodySize: 100, maxHeaders: 20 } })
  app.use((ctx, next) => {
    ctx.append('set-cookie', 'a=1').append('set-cookie', 'b=2')
    return next()
  })
  app.get('/u/:id', (ctx) => ({ id: ctx.params.id, query: ctx.query, agent: ctx.headers['x-agent'] }))
  app.post('/b', (ctx) => ({ body: ctx.body }))
  app.post('/s', { bodyMode: 'stream' }, async (ctx) => (await new Response(ctx.bodyStream).text()).length)
  app.get('/boom', () => {
    throw new Error('secret')
  })
  app.get('/stream', async function* () {
    yield 'a'
    yield 'b'
  })
  return app
}

/** Requests that must have the same answer through `inject` and through a socket. */
const table: InjectOptions[] = [
  { url: '/u/7?a=1&a=2', headers: { 'x-agent': 'me' } },
  { url: '/u/a%2Fb' },
  { url: '/u/7', method: 'HEAD' },
  { url: '/u/7', method: 'DELETE' },
  { url: '/u/7', method: 'OPTIONS' },
  { url: '*', method: 'OPTIONS' },
  { url: '/none' },
  { url: '/%zz' },
  { url: '/u/..' },
  { url: `/u/${'x'.repeat(257)}` },
  { url: `/${'x'.repeat(8_192)}` },
  { url: '/u/7', method: 'TRACE' },
  { url: '/b', method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"a":1}' },
  { url: '/b', method: 'POST', headers: { 'content-type': 'application/json' }, body: '{' },
  { url: '/b', method: 'POST', headers: { 'content-type': 'image/png' }, body: 'x' },
  { url: '/b', method: 'POST', body: 'x'.repeat(100), headers: { 'content-type': 'text/plain' } },
  { url: '/b', method: 'POST', body: 'x'.repeat(101), headers: { 'content-type': 'text/plain' } },
  { url: '/b', method: 'POST' },
  { url: '/b', method: 'POST', body: 'x', headers: { expect: 'x' } },
  { url: '/s', method: 'POST', body: 'x'.repeat(99) },
  { url: '/boom' },
  { url: '/stream' },
  { url: '/u/7', headers: Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`x-${at}`, '1'])) },
]

/** Of the table only; the app itself gives 400 for a malformed body, which is compared in `bodies.ts`. */
const refusedBeforeTheApp = new Set([400, 413, 414, 417, 431, 501])

export function inject(kit: Kit): void {
  describe('inject answers as a socket does', () => {
    for (const one of table) {
      const name = `${one.method ?? 'GET'} ${one.url.slice(0, 40)}${one.body === undefined ? '' : ` with ${String(one.body).slice(0, 20)}`}`
      test(name, one.url.startsWith('/') ? {} : kit.needs('target-forms'), async () => {
        const app = build(kit)
        await kit.serve(app, async (live) => {
          const injected = await app.inject(one)
          const reply = await live.ask(one.url, {
            method: one.method ?? 'GET',
            ...(one.headers === undefined ? {} : { headers: one.headers as Record<string, string> }),
            ...(one.body === undefined ? {} : { body: one.body as string }),
          })
          assert.equal(injected.status, reply.status)
          if (refusedBeforeTheApp.has(reply.status)) {
            // Adapters name what is wrong with a path more or less exactly; the rest is the same.
            const [mine, other] = [injected.json(), reply.json()] as { status: number; code: string }[]
            assert.equal(injected.headers['content-type'], reply.headers['content-type'])
            assert.equal(mine?.status, other?.status)
            if (reply.status !== 400) assert.equal(mine?.code, other?.code)
            return
          }
          assert.equal(injected.text(), reply.text)
          for (const name of ['content-type', 'allow', 'content-length']) {
            assert.equal(injected.headers[name], reply.headers[name], name)
          }
          assert.equal(injected.headers['set-cookie']?.join(', '), reply.headers['set-cookie'])
        })
      })
    }
  })
}
