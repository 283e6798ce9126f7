import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import type { Context } from 'volant'
import { deferred, eventually, Kit, type Live, request, within } from '../src/kit.ts'
import { exchangeOf, seeded, skip } from './engine/native.ts'

const kit = new Kit('native')

/** Lengths on both sides of every threshold of packages/engine/src/memory.ts, in units of its own checks. */
const lengths = [
  0, 1, 2, 11, 12, 13, 31, 32, 33, 63, 64, 65, 127, 255, 256, 1023, 1024, 4095, 4096, 4097, 5460, 5461, 5462,
  5463, 8191, 8192, 8193, 16_383, 16_384, 16_385, 65_535, 65_536, 65_537,
]

/** Text of 1, 2, 3 and 4 bytes a character, mixed, and halves of surrogate pairs in every place. */
const texts: Record<string, (length: number) => string> = {
  ASCII: (length) => 'a'.repeat(length),
  'Latin-1': (length) => 'é'.repeat(length),
  'three bytes': (length) => '€'.repeat(length),
  'four bytes': (length) => '𝄞'.repeat(Math.floor(length / 2)),
  'ASCII, then one of two bytes': (length) => (length === 0 ? '' : `${'a'.repeat(length - 1)}é`),
  'ASCII, then one of three bytes': (length) => (length === 0 ? '' : `${'a'.repeat(length - 1)}€`),
  'a lone high surrogate at the end': (length) => (length === 0 ? '' : `${'a'.repeat(length - 1)}\ud834`),
  'a lone low surrogate at the start': (length) => (length === 0 ? '' : `\udd1e${'a'.repeat(length - 1)}`),
  'lone surrogates throughout': (length) => '\ud834'.repeat(length),
  'joined from parts': (length) => 'é'.repeat(length >> 1) + 'b'.repeat(length - (length >> 1)),
}

test('strings of every width and length arrive as UTF-8', { skip }, async () => {
  const app = kit.app()
  app.get('/:text/:length', (ctx) => {
    const text = (texts[ctx.params.text] as (length: number) => string)(Number(ctx.params.length))
    ctx.text(text)
  })
  await kit.serve(app, async (live) => {
    const wire = await live.connect()
    for (const [name, make] of Object.entries(texts)) {
      for (const length of lengths) {
        wire.send(request('GET', `/${encodeURIComponent(name)}/${length}`))
        const { body } = await wire.reply()
        assert.ok(body.equals(Buffer.from(make(length))), `${name}, ${length}: ${body.length} bytes`)
      }
    }
  })
})

test('strings and bytes of random length, pipelined, arrive whole and in order', { skip }, async () => {
  const app = kit.app()
  app.get('/:seed', (ctx) => ctx.reply(200, bodyOf(Number(ctx.params.seed))))
  await kit.serve(app, async (live) => {
    const wire = await live.connect()
    for (let seed = 0; seed < 800; seed += 16) {
      const seeds = Array.from({ length: 16 }, (_, index) => seed + index)
      wire.send(Buffer.concat(seeds.map((each) => request('GET', `/${each}`))))
      for (const each of seeds)
        assert.ok((await wire.reply()).body.equals(Buffer.from(bodyOf(each))), `${each}`)
    }
  })
})

function bodyOf(seed: number): string | Buffer {
  const random = seeded(seed + 1)
  const length = Math.floor(random() ** 4 * 40_000) + 1
  const kind = random()
  if (kind < 0.3) return `${seed} ${'x'.repeat(length)}`
  if (kind < 0.6)
    return `${seed} ${Array.from({ length: 40 }, () => 'aé€𝄞\ud834'[Math.floor(random() * 6)]).join('')}`
  return Buffer.alloc(length, `${seed} `)
}

/** Requests that are all open at once, to be answered from one callback: the engine reads nothing in between. */
async function held(
  live: Live,
  contexts: unknown[],
  connections: number,
): Promise<Awaited<ReturnType<Live['connect']>>[]> {
  const wires = await Promise.all(Array.from({ length: connections }, () => live.connect()))
  for (const [index, wire] of wires.entries()) {
    wire.send(Buffer.concat(Array.from({ length: 16 }, (_, at) => request('GET', `/${index * 16 + at}`))))
  }
  await eventually(() => contexts.length === connections * 16, 'every request dispatched')
  return wires
}

function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

for (const [what, size] of [
  ['3,200 small replies: more records than fit', () => 8],
  ['3,200 replies of 1 to 3 KB: more bytes than fit', (id: number) => 1_000 + ((id * 7) % 2_000)],
  ['3,200 replies, each twentieth by reference', (id: number) => (id % 20 === 0 ? 20_000 + id : 600)],
] as [string, (id: number) => number][]) {
  test(`${what}, in one callback`, { skip }, async () => {
    const app = kit.app()
    const contexts: Context<{ params: { id: string } }>[] = []
    app.get('/:id', (ctx) => {
      contexts.push(ctx)
      return new Promise<void>(() => {})
    })
    const content = (id: number) => Buffer.alloc(size(id), `${id} `)
    await kit.serve(app, async (live) => {
      const wires = await held(live, contexts, 200)
      // Against the order of arrival, too: replies of one connection are still sent in the order of its requests.
      contexts.sort((a, b) => ((Number(a.params.id) * 7919) % 3_203) - ((Number(b.params.id) * 7919) % 3_203))
      for (const ctx of contexts) {
        const body = content(Number(ctx.params.id))
        if (Number(ctx.params.id) % 2 === 0) ctx.bytes(body)
        else ctx.header('x-id', ctx.params.id).text(body.toString())
      }
      for (const [index, wire] of wires.entries()) {
        for (let at = 0; at < 16; at++) {
          const { body } = await wire.reply()
          assert.equal(digest(body), digest(content(index * 16 + at)))
        }
      }
      assert.equal(app.stats().inFlight, 0)
    })
  })
}

test('one streamed reply of 6,000 parts and 9 MB, written in one callback', { skip }, async () => {
  const app = kit.app()
  const part = (index: number) => Buffer.alloc(index % 3_000, String(index))
  app.get('/', (ctx) => {
    const exchange = exchangeOf(ctx)
    exchange.start(200, 4, null, -1)
    for (let index = 1; index <= 6_000; index++) {
      if (index % 2 === 0) exchange.write(part(index))
      else exchange.write(part(index).toString())
    }
    exchange.finish()
    return new Promise<void>(() => {})
  })
  await kit.serve(app, async (live) => {
    const { body } = await live.ask('/')
    const whole = Buffer.concat(Array.from({ length: 6_000 }, (_, index) => part(index + 1)))
    assert.equal(digest(body), digest(whole))
  })
})

/** A body of 40,000 bytes and what its memory is; `later` is done to it once it was handed over. */
const memories: [string, () => Uint8Array, ((bytes: Uint8Array) => void) | null][] = [
  ['a Buffer', () => Buffer.alloc(40_000, 7), null],
  [
    'a part of a larger ArrayBuffer',
    () => new Uint8Array(new ArrayBuffer(90_000), 1_234, 40_000).fill(7),
    null,
  ],
  ['shared memory', () => new Uint8Array(new SharedArrayBuffer(40_000)).fill(7), null],
  ['resizable memory', () => new Uint8Array(resizable(40_000)).fill(7), null],
  [
    'transferred memory',
    () => new Uint8Array(40_000).fill(7),
    (bytes) => structuredClone(bytes.buffer, { transfer: [bytes.buffer as ArrayBuffer] }),
  ],
  ['memory shrunk', () => new Uint8Array(resizable(40_000)).fill(7), (bytes) => resize(bytes, 100)],
  ['memory shrunk to nothing', () => new Uint8Array(resizable(40_000)).fill(7), (bytes) => resize(bytes, 0)],
  ['memory grown', () => new Uint8Array(resizable(40_000)).fill(7), (bytes) => resize(bytes, 80_000)],
]

for (const [what, make, later] of memories) {
  test(`a reply by reference from ${what}${later ? ' after it was handed over' : ''}`, { skip }, async () => {
    const app = kit.app()
    app.get('/', (ctx) => {
      const bytes = make()
      ctx.bytes(bytes)
      later?.(bytes)
    })
    app.get('/next', () => 'next')
    await kit.serve(app, async (live) => {
      const wire = await live.connect()
      wire.send(
        Buffer.concat([
          request('GET', '/'),
          request('GET', '/next'),
          request('GET', '/'),
          request('GET', '/next'),
        ]),
      )
      for (let round = 0; round < 2; round++) {
        const { status, body } = await wire.reply()
        if (later === null) assert.ok(status === 200 && body.equals(Buffer.alloc(40_000, 7)))
        // The bytes are gone: that is an error, never a reply that looks right.
        else if (status === 200) assert.ok(body.equals(Buffer.alloc(40_000, 7)), `${body.length} bytes`)
        else assert.equal(status, 500)
        assert.equal((await wire.reply()).text, 'next')
      }
    })
  })
}

interface Resizable extends ArrayBuffer {
  resize(length: number): void
}

function resizable(length: number, maxByteLength = 100_000): Resizable {
  const Constructor = ArrayBuffer as unknown as new (
    length: number,
    options: { maxByteLength: number },
  ) => Resizable
  return new Constructor(length, { maxByteLength })
}

function resize(bytes: Uint8Array, length: number): void {
  ;(bytes.buffer as Resizable).resize(length)
}

test('bytes of a streamed reply may be reused once they were written, or drained', { skip }, async () => {
  const app = kit.app()
  app.get('/', async (ctx) => {
    const exchange = exchangeOf(ctx)
    const bytes = new Uint8Array(20_000)
    exchange.start(200, 4, null, 5 * bytes.length)
    for (let round = 1; round <= 5; round++) {
      if (exchange.write(bytes.fill(round))) continue
      await new Promise<void>((resolve) => {
        exchange.onDrain = resolve
      })
    }
    bytes.fill(99)
    exchange.finish()
    return new Promise<void>(() => {})
  })
  await kit.serve(app, async (live) => {
    const { body } = await live.ask('/')
    assert.deepEqual(
      [0, 1, 2, 3, 4].map((round) => body[round * 20_000 + 19_999]),
      [1, 2, 3, 4, 5],
    )
  })
})

test('header values of every length, in Latin-1', { skip }, async () => {
  const value = (length: number) => `${'a'.repeat(length >> 1)}${'é'.repeat(length - (length >> 1))}`
  const app = kit.app()
  app.get('/:length', (ctx) => {
    const length = Number(ctx.params.length)
    ctx
      .header('x-first', value(length))
      .header(`x-${'n'.repeat(length % 100)}`, 'b')
      .text('body')
  })
  await kit.serve(app, async (live) => {
    const wire = await live.connect()
    for (const length of lengths.filter((each) => each > 0 && each <= 65_535)) {
      const reply = await wire.send(request('GET', `/${length}`)).reply()
      assert.equal(reply.headers['x-first'], value(length))
      assert.equal(reply.headers[`x-${'n'.repeat(length % 100)}`], 'b')
      assert.equal(reply.text, 'body')
    }
  })
})

const tooMuch: [string, (set: (name: string, value: string) => void) => void][] = [
  ['a value of 65,536 characters', (set) => set('x-long', 'x'.repeat(65_536))],
  [
    // With lengths of 16 bits: a value of 10 bytes, then the lengths 32,124 and 33,408, a name and a value.
    'a value whose end reads as another header',
    (set) => set('x-long', `${'v'.repeat(10)}|}\x80\x82${'n'.repeat(32_124)}${'v'.repeat(33_408)}`),
  ],
  ['a name of 70,000 characters', (set) => set('n'.repeat(70_000), 'x')],
  [
    '3 MB in values that are each within bounds',
    (set) => {
      for (let index = 0; index < 50; index++) set(`x-${index}`, 'v'.repeat(60_000))
    },
  ],
]

for (const [what, fill] of tooMuch) {
  test(`headers that cannot be carried are refused with 500: ${what}`, { skip }, async () => {
    const app = kit.app()
    app.get('/whole', (ctx) => {
      fill((name, value) => ctx.header(name, value))
      ctx.text('body')
    })
    app.get('/stream', (ctx) => {
      fill((name, value) => ctx.header(name, value))
      ctx.stream(['a', 'b'][Symbol.iterator]())
    })
    app.get('/next', () => 'next')
    await kit.serve(app, async (live) => {
      const wire = await live.connect()
      wire.send(Buffer.concat(['/whole', '/next', '/stream', '/next'].map((path) => request('GET', path))))
      for (let round = 0; round < 2; round++) {
        const reply = await wire.reply()
        assert.deepEqual([reply.status, reply.headers['x-long']], [500, undefined])
        assert.equal((await wire.reply()).text, 'next')
      }
    })
  })
}

/** A reply larger than what the sockets of both ends take at once. */
const large = 12_000_000

test('a Buffer that 100 clients do not read is in memory once', { skip }, async () => {
  const app = kit.app()
  const body = Buffer.alloc(large, 7)
  const answered = new Set<string>()
  app.get('/:id', (ctx) => {
    answered.add(ctx.params.id)
    return body
  })
  await kit.serve(app, async (live) => {
    assert.equal((await live.ask('/first')).body.length, large)
    const before = process.memoryUsage.rss()
    const wires = await Promise.all(Array.from({ length: 100 }, () => live.connect()))
    for (const [id, wire] of wires.entries()) {
      wire.socket.pause()
      wire.send(request('GET', `/${id}`))
    }
    await eventually(() => answered.size === 101, 'every request dispatched')
    const added = process.memoryUsage.rss() - before
    // With a copy of what the sockets do not take of each it was 789 MB.
    assert.ok(added < 300_000_000, `${added} bytes`)
    const [wire] = wires
    assert.ok(wire)
    wire.socket.resume()
    assert.ok((await wire.reply()).body.equals(body))
  })
})

for (const [what, change] of [
  [
    'transferred',
    (bytes: Uint8Array) => structuredClone(bytes.buffer, { transfer: [bytes.buffer as ArrayBuffer] }),
  ],
  ['shrunk', (bytes: Uint8Array) => resize(bytes, large - 1)],
  ['grown', (bytes: Uint8Array) => resize(bytes, large + 1)],
] as [string, (bytes: Uint8Array) => void][]) {
  test(`a reply whose memory is ${what} while it is sent is cut off`, { skip }, async () => {
    const app = kit.app()
    let sent: Uint8Array = new Uint8Array(0)
    app.get('/', (ctx) => {
      sent = new Uint8Array(what === 'transferred' ? new ArrayBuffer(large) : resizable(large, large + 1))
      ctx.bytes(sent)
    })
    app.get('/next', () => 'next')
    await kit.serve(app, async (live) => {
      const wire = await live.connect()
      wire.socket.pause()
      wire.send(request('GET', '/'))
      await eventually(() => sent.length > 0, 'the reply')
      await new Promise((resolve) => setImmediate(resolve))
      change(sent)
      wire.socket.resume()
      await within(wire.closed, 30_000, 'the end of the connection')
      assert.ok(wire.received.length < large, `${wire.received.length} bytes`)
      assert.equal((await live.ask('/next')).text, 'next')
    })
  })
}

test('replies past maxBufferedReplies are cut off, and counted', { skip }, async () => {
  const app = kit.app({ limits: { maxBufferedReplies: 1.5 * large } })
  const endings: [string, boolean][] = []
  const stopped = deferred()
  app.onResponse((ctx, { aborted }) => void endings.push([ctx.path, aborted]))
  app.get('/whole', () => Buffer.alloc(large))
  app.get('/stream', (ctx) => {
    ctx.signal.addEventListener('abort', () => stopped.resolve())
    return (function* () {
      for (;;) yield Buffer.alloc(large)
    })()
  })
  await kit.serve(app, async (live) => {
    // It has its place; what comes later does not fit beside it.
    const first = await live.connect()
    first.socket.pause()
    first.send(request('GET', '/whole'))
    await eventually(() => endings.length === 1, 'the first reply')
    for (const [index, path] of ['/whole', '/stream'].entries()) {
      const wire = await live.connect()
      wire.socket.pause()
      wire.send(request('GET', path))
      await eventually(() => app.stats().dropped === index + 1, 'the reset')
      wire.socket.resume()
      await within(wire.closed, 30_000, 'the end of the connection')
      assert.ok(wire.received.length < large)
    }
    await within(stopped.promise, 30_000, 'the abort of ctx.signal')
    await eventually(() => endings.length === 3, 'all endings')
    // The reply was given whole before the engine found that it does not fit.
    assert.deepEqual(endings, [
      ['/whole', false],
      ['/whole', false],
      ['/stream', true],
    ])
  })
})

/** A worker whose replies wait to be sent when it ends, by itself or not. */
const ending = `
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads'
import { connect } from 'node:net'
import { once } from 'node:events'
import { createApp } from 'volant'
if (isMainThread) {
  for (const how of ['terminate', 'exit', 'leave']) {
    const worker = new Worker(new URL(import.meta.url), { workerData: how })
    const [port] = await once(worker, 'message')
    const sockets = Array.from({ length: 5 }, () => connect(port, '127.0.0.1'))
    for (const socket of sockets) {
      socket.on('error', () => {})
      socket.write('GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n')
    }
    // Each reply has begun, and nobody reads it.
    await Promise.all(sockets.map((socket) => once(socket, 'readable')))
    const ended = once(worker, 'exit')
    if (how === 'terminate') void worker.terminate()
    else worker.postMessage(how)
    await ended
    for (const socket of sockets) socket.destroy()
    console.log(how)
  }
} else {
  const app = createApp({ adapter: { type: 'native' }, signals: false, limits: { shutdownTimeout: 0 } })
  const body = Buffer.alloc(12_000_000)
  app.get('/', () => body)
  const { port } = await app.listen({ port: 0, host: '127.0.0.1' })
  parentPort.postMessage(port)
  parentPort.once('message', (how) => (how === 'exit' ? process.exit() : void app.close()))
}
`

test('a worker may end while its replies wait to be sent', { skip }, async () => {
  const folder = mkdtempSync(join(import.meta.dirname, 'ending-'))
  try {
    const file = join(folder, 'ending.mjs')
    writeFileSync(file, ending.replaceAll('\\\\', '\\'))
    const { stdout } = await promisify(execFile)(process.execPath, [file], { timeout: 120_000 })
    assert.deepEqual(stdout.trim().split('\n'), ['terminate', 'exit', 'leave'])
  } finally {
    rmSync(folder, { recursive: true })
  }
})
