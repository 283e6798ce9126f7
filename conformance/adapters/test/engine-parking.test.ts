import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seeded } from '@volant/test-kit'
import type { Context } from 'volant'
import { deferred, Kit, request, turns } from '../src/kit.ts'
import type { Wire } from '../src/wire.ts'
import { exchangeOf, skip } from './engine/native.ts'

const kit = new Kit('native')

/** A request and everything a handler may read of it. */
interface Sent {
  bytes: Buffer
  params: Record<string, string>
  query: string
  path: string
  raw: string[]
  body: Buffer
}

const letters = "abcXYZ019-._~!$'()*+,;=:@"

function make(seed: number): Sent {
  const random = seeded(seed)
  const below = (limit: number) => Math.floor(random() * limit)
  const text = (length: number, from = letters) =>
    Array.from({ length }, () => from[below(from.length)]).join('')
  const params: Record<string, string> = {
    first: `${seed}${text(below(30))}`,
    rest: text(1 + below(25), 'ab/ü€%'),
  }
  const path = `/p/${params['first']}/${encodeURIComponent(params['rest'] as string)}`
  const query = below(2) === 0 ? '' : `q=${text(below(80), 'abc123')}&n=${seed}`
  const raw = ['Host', 'localhost', 'X-Seed', String(seed)]
  for (let count = below(12); count > 0; count--)
    raw.push(`X-${text(1 + below(20), 'aBc')}`, `v${text(below(90))}\xe9v`)
  // Small ones come in the arena, those past 64 KiB as a Buffer of their own.
  const size = below(20) === 0 ? 65_400 + below(70_000) : below(3) === 0 ? below(3_000) : 0
  const body = Buffer.alloc(size, `${seed} `)
  if (size > 0) raw.push('Content-Length', String(size))
  const lines: string[] = []
  for (let at = 0; at < raw.length; at += 2) lines.push(`${raw[at]}: ${raw[at + 1]}\r\n`)
  const target = query === '' ? path : `${path}?${query}`
  const head = `${size > 0 ? 'POST' : 'GET'} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`
  return { bytes: Buffer.concat([Buffer.from(head, 'latin1'), body]), params, query, path, raw, body }
}

test('10,000 requests read after the slices that followed them', { skip, timeout: 300_000 }, async () => {
  const sent = new Map<string, Sent>()
  const wrong: string[] = []
  const app = kit.app()
  let overtaken = 0
  let dispatched = 0
  let held = 0
  let next = 0
  const handler = async (ctx: Context<{ params: { first: string; rest: string } }>) => {
    const turn = ++dispatched
    const random = seeded(turn)
    // Nothing is read before: what was read once is kept, and would hide an overwritten page. Some wait
    // until a page's worth of requests came after them, and not all 40 connections at once: the others go on.
    if (turn % 40 === 0 && held < 8) {
      held++
      while (dispatched <= turn + 128 && next < 10_000) await turns(1)
      held--
    }
    for (let wait = Math.floor(random() * 4); wait > 0; wait--) {
      await turns(random() < 0.7 ? 1 : 1 + Math.floor(random() * 40))
    }
    if (dispatched > turn + 128) overtaken++
    const exchange = exchangeOf(ctx)
    const raw = exchange.rawHeaders()
    const seed = raw[3] as string
    const { params, query, path, raw: fields, body } = sent.get(seed) as Sent
    sent.delete(seed)
    const bytes = ctx.bodyBytes
    try {
      assert.deepEqual(raw, fields)
      assert.deepEqual({ ...ctx.params }, params)
      assert.equal(exchange.query, query)
      assert.equal(ctx.path, path)
      assert.equal(ctx.headers['x-seed'], seed)
      assert.equal(exchange.header('host'), 'localhost')
      assert.equal(ctx.ip, '127.0.0.1')
      assert.equal(ctx.httpVersion, '1.1')
      assert.equal(ctx.method, body.length > 0 ? 'POST' : 'GET')
      assert.ok(bytes.equals(body), `${bytes.length} of ${body.length} bytes`)
    } catch (error) {
      wrong.push(`${seed}: ${(error as Error).message}`)
    }
    return seed
  }
  app.get('/p/:first/:rest', handler)
  app.post('/p/:first/:rest', handler)
  await kit.serve(app, async (live) => {
    await Promise.all(
      Array.from({ length: 40 }, async () => {
        const wire = await live.connect()
        while (next < 10_000) {
          const seeds = Array.from({ length: 1 + (next % 12) }, () => String(next++))
          const parts = seeds.map((seed) => {
            const each = make(Number(seed))
            sent.set(seed, each)
            return each.bytes
          })
          wire.send(Buffer.concat(parts))
          for (const seed of seeds) assert.equal((await wire.reply()).text, seed)
        }
      }),
    )
  })
  assert.deepEqual(wrong.slice(0, 3), [])
  assert.equal(sent.size, 0)
  assert.ok(overtaken > 0, 'no request was read after another page was filled')
})

test(
  '100,000 requests with aborts: a late reply never reaches another request',
  { skip, timeout: 300_000 },
  async () => {
    const total = 100_000
    const random = seeded(6)
    const waiting: Context<{ params: { nonce: string } }>[] = []
    let late = 0
    const app = kit.app()
    app.get('/:nonce', (ctx) => {
      if (random() < 0.5) return ctx.params.nonce
      waiting.push(ctx)
      // Answered by `answerSome`, some after their client left, and some of those twice.
      return new Promise<never>(() => {})
    })
    const answerSome = () => {
      for (let count = Math.ceil(waiting.length * random()); count > 0; count--) {
        const at = Math.floor(random() * waiting.length)
        const ctx = waiting[at] as Context<{ params: { nonce: string } }>
        const exchange = exchangeOf(ctx)
        // An answered one may stay, and is answered again when its slot has another user.
        if (random() < 0.9) {
          waiting[at] = waiting[waiting.length - 1] as Context<{ params: { nonce: string } }>
          waiting.pop()
        }
        if (exchange.aborted) late++
        exchange.end(200, 2, null, ctx.params.nonce)
        if (random() < 0.1) {
          exchange.start(200, 2, null, -1)
          exchange.write(ctx.params.nonce)
          exchange.finish()
          exchange.destroy()
        }
      }
    }
    await kit.serve(app, async (live) => {
      let next = 0
      let clients = 60
      const client = async () => {
        let wire: Wire | null = null
        while (next < total) {
          wire ??= await live.connect()
          const nonces = Array.from({ length: 1 + Math.floor(random() * 15) }, () => `n${next++}`)
          wire.send(Buffer.concat(nonces.map((nonce) => request('GET', `/${nonce}`))))
          const read = random() < 0.3 ? Math.floor(random() * nonces.length) : nonces.length
          for (const nonce of nonces.slice(0, read)) assert.equal((await wire.reply()).text, nonce)
          if (read === nonces.length) continue
          if (random() < 0.5) wire.reset()
          else wire.close()
          wire = null
        }
        clients--
      }
      const all = Promise.all(Array.from({ length: clients }, client))
      const ended = all.then(
        () => true,
        () => true,
      )
      while (clients > 0 && !(await Promise.race([ended, tick()]))) answerSome()
      await all
      while (waiting.length > 0) answerSome()
    })
    assert.ok(late > 500, `only ${late} replies came late`)
  },
)

function tick(): Promise<false> {
  return new Promise((resolve) => setImmediate(resolve, false))
}

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

test('what a retained exchange is asked after its reply is its own request', { skip }, async () => {
  const app = kit.app()
  const read: unknown[] = []
  const others = deferred()
  const done = deferred()
  app.post('/alice/:id', async (ctx) => {
    const exchange = exchangeOf(ctx)
    exchange.retained = true
    ctx.text('alice')
    await others.promise
    read.push([ctx.url, ctx.headers['x-secret'], ctx.bodyText, ctx.params.id, exchange.bodyLength])
    exchange.retained = false
    done.resolve()
  })
  app.post('/mallory/:id', () => 'mallory')
  await kit.serve(app, async (live) => {
    const ask = (path: string) =>
      live.ask(path, { method: 'POST', headers: { 'x-secret': path }, body: path })
    await ask('/alice/1?a')
    for (let round = 0; round < 10; round++) await ask('/mallory/2?b')
    others.resolve()
    await done.promise
    assert.deepEqual(read, [['/alice/1?a', '/alice/1?a', '/alice/1?a', '1', 10]])
  })
})
