/** What a hostile reading of the native engine found: each case names what went wrong before. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
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

test('a window beyond 2 GiB lets the body in', { skip }, async () => {
  const app = kit.app()
  app.post('/', { bodyMode: 'stream' }, async (ctx) => {
    const received = await new Promise<string>((resolve, reject) => {
      let text = ''
      const chunk = (bytes: Buffer) => void (text += bytes.toString())
      exchangeOf(ctx).readBody({ chunk, end: () => resolve(text), fail: reject }, 2 ** 32)
      exchangeOf(ctx).credit(2 ** 33)
    })
    return received
  })
  await kit.serve(app, async (live) => {
    assert.equal((await live.post('/', null, 'let in')).text, 'let in')
  })
})

/** A server whose sink throws while another client's request is in the same slice. */
const throwing = `
import { createApp } from 'volant'
import { connect } from 'node:net'
import { once } from 'node:events'
let uncaught = 0
process.on('uncaughtException', () => uncaught++)
const app = createApp({ adapter: { type: 'native' }, signals: false })
let begun
const read = new Promise((resolve) => { begun = resolve })
app.post('/', { bodyMode: 'stream' }, (ctx) => {
  const chunk = () => { throw new Error('from a sink') }
  ctx.exchange.readBody({ chunk, end() {}, fail() {} }, 1000)
  setImmediate(begun)
  return new Promise(() => {})
})
app.get('/', () => 'served')
const { port } = await app.listen({ port: 0, host: '127.0.0.1' })
const [upload, other] = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')]
await Promise.all([once(upload, 'connect'), once(other, 'connect')])
upload.write('POST / HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: 9\\r\\n\\r\\n')
await read
upload.write('123')
other.write('GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n')
const [reply] = await Promise.race([once(other, 'data'), new Promise((resolve) => setTimeout(resolve, 2000, ['none']))])
console.log(String(reply).includes('served'), uncaught)
process.exit()
`

test('what a callback throws is uncaught, and costs no other request', { skip }, () => {
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', throwing], { encoding: 'utf8' })
  assert.equal(output, 'true 1\n')
})
