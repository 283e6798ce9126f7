/** What a hostile reading of the native engine found: each case names what went wrong before. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Context } from 'volant'
import { Kit, request } from '../src/kit.ts'
import { exchangeOf, skip } from './engine/native.ts'

const kit = new Kit('native')

/** Keeps the event loop from running. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

test('a request that came while the loop was blocked is no idle connection', { skip }, async () => {
  const app = kit.app({ limits: { keepAliveTimeout: 300 } })
  app.get('/', () => 'served')
  await kit.serve(app, async (live) => {
    const wires = await Promise.all(Array.from({ length: 50 }, () => live.connect()))
    for (const wire of wires) assert.equal((await wire.send(request('GET', '/')).reply()).text, 'served')
    for (const wire of wires) wire.send(request('GET', '/'))
    block(700)
    for (const wire of wires) assert.equal((await wire.reply()).text, 'served')
  })
})

test('the keep-alive time begins after a handler that blocked, not before it', { skip }, async () => {
  const app = kit.app({ limits: { keepAliveTimeout: 400 } })
  app.get('/', () => {
    block(600)
    return 'slow'
  })
  await kit.serve(app, async (live) => {
    const wire = await live.connect()
    assert.equal((await wire.send(request('GET', '/')).reply()).text, 'slow')
    await sleep(200)
    assert.equal((await wire.send(request('GET', '/')).reply()).text, 'slow')
  })
})

test('what is read after the reply is never another request', { skip }, async () => {
  const app = kit.app()
  const answered: Context[] = []
  app.get('/alice', (ctx) => {
    answered.push(ctx)
    ctx.text('alice')
  })
  app.post('/alice', (ctx) => {
    answered.push(ctx)
    ctx.text('alice')
  })
  app.get('/mallory/:who', () => 'mallory')
  app.post('/mallory/:who', () => 'mallory')
  await kit.serve(app, async (live) => {
    const ask = async (method: string, path: string) =>
      live.ask(path, { method, headers: { 'x-secret': path }, ...(method === 'POST' ? { body: path } : {}) })
    await ask('GET', '/alice')
    await ask('POST', '/alice')
    for (let round = 0; round < 10; round++) {
      await ask('GET', '/mallory/xyz?mallory')
      await ask('POST', '/mallory/xyz?mallory')
    }
    assert.equal(answered.length, 2)
    for (const [index, ctx] of answered.entries()) {
      assert.equal(ctx.method, index === 0 ? 'GET' : 'POST')
      const exchange = exchangeOf(ctx)
      const read = [
        ctx.path,
        ctx.url,
        JSON.stringify(ctx.headers),
        exchange.header('host') ?? '',
        exchange.header('x-secret') ?? '',
        exchange.rawHeaders().join(),
        exchange.bodyText(),
        exchange.bodyBytes().toString(),
        exchange.param(0) ?? '',
        ctx.ip,
      ]
      assert.doesNotMatch(read.join('|'), /mallory|xyz/)
      assert.equal(exchange.bodyLength, 0)
    }
  })
})

test('what a held exchange is asked after its reply is its own request', { skip }, async () => {
  const app = kit.app()
  const read: unknown[] = []
  app.post('/alice/:id', async (ctx) => {
    const exchange = exchangeOf(ctx)
    exchange.held = true
    ctx.text('alice')
    await sleep(50)
    read.push([ctx.url, ctx.headers['x-secret'], ctx.bodyText, ctx.params.id, exchange.bodyLength])
    exchange.held = false
  })
  app.post('/mallory/:id', () => 'mallory')
  await kit.serve(app, async (live) => {
    const ask = (path: string) =>
      live.ask(path, { method: 'POST', headers: { 'x-secret': path }, body: path })
    await ask('/alice/1?a')
    for (let round = 0; round < 10; round++) await ask('/mallory/2?b')
    await sleep(80)
    assert.deepEqual(read, [['/alice/1?a', '/alice/1?a', '/alice/1?a', '1', 10]])
  })
})
