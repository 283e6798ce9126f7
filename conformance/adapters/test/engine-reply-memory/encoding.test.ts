/** Strings, bytes and headers of replies of every length arrive as they were. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seeded } from '@volant/test-kit'
import { Kit, request } from '../../src/kit.ts'
import { skip } from '../engine/native.ts'

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

function bodyOf(seed: number): string | Buffer {
  const random = seeded(seed + 1)
  const length = Math.floor(random() ** 4 * 40_000) + 1
  const kind = random()
  if (kind < 0.3) return `${seed} ${'x'.repeat(length)}`
  if (kind < 0.6)
    return `${seed} ${Array.from({ length: 40 }, () => 'aé€𝄞\ud834'[Math.floor(random() * 6)]).join('')}`
  return Buffer.alloc(length, `${seed} `)
}
