// Writes deflated.json: messages as zlib compresses them at its various settings, without the tail that RFC 7692 §7.2.1
// leaves out. `unit` is repeated `times` times, which gives the message.
// Run: node crates/ws/cases/deflated.mjs
import { writeFileSync } from 'node:fs'
import { constants, createDeflateRaw } from 'node:zlib'

const { Z_DEFAULT_STRATEGY, Z_FILTERED, Z_FIXED, Z_HUFFMAN_ONLY, Z_RLE, Z_SYNC_FLUSH, Z_FULL_FLUSH } =
  constants

const messages = [
  { unit: '', times: 0 },
  { unit: 'a', times: 1 },
  { unit: 'Hello', times: 1 },
  { unit: '{"room":"lobby","text":"Grüße, 世界, 𝄞"}', times: 1 },
  { unit: '{"id":1,"name":"Ada"},', times: 200 },
  { unit: 'ab', times: 40_000 },
  { unit: '\0', times: 500_000 },
  { unit: noise(700), times: 3 },
  { unit: noise(5_000), times: 1 },
]
const settings = [
  { name: 'as usual' },
  { name: 'level 0', level: 0 },
  { name: 'level 1, a small window', level: 1, windowBits: 9, memLevel: 1 },
  { name: 'level 9', level: 9, memLevel: 9 },
  { name: 'filtered', strategy: Z_FILTERED },
  { name: 'Huffman codes alone', strategy: Z_HUFFMAN_ONLY },
  { name: 'runs', strategy: Z_RLE },
  { name: 'fixed codes', strategy: Z_FIXED },
  { name: 'a flush after each third', thirds: true },
]

const rows = []
for (const message of messages) {
  for (const { name, thirds = false, ...options } of settings) {
    const text = message.unit.repeat(message.times)
    const deflated = await deflate(text, { strategy: Z_DEFAULT_STRATEGY, ...options }, thirds)
    // Level 0 and noise make long rows; a few of them are enough.
    if (deflated.length < 1_500 || (name === 'as usual' && deflated.length < 6_000))
      rows.push({ name, ...message, deflated: deflated.toString('hex') })
  }
}
writeFileSync(
  new URL('deflated.json', import.meta.url),
  `[\n${rows.map((row) => `  ${JSON.stringify(row)}`).join(',\n')}\n]\n`,
)

async function deflate(text, options, thirds) {
  const stream = createDeflateRaw(options)
  const chunks = []
  stream.on('data', (chunk) => chunks.push(chunk))
  const bytes = Buffer.from(text)
  const third = thirds ? Math.ceil(bytes.length / 3) : bytes.length
  for (let at = 0; at < bytes.length; at += third) {
    await new Promise((resolve) => stream.write(bytes.subarray(at, at + third), resolve))
    const isLast = at + third >= bytes.length
    if (!isLast) await new Promise((resolve) => stream.flush(Z_FULL_FLUSH, resolve))
  }
  await new Promise((resolve) => stream.flush(Z_SYNC_FLUSH, resolve))
  const whole = Buffer.concat(chunks)
  // zlib writes nothing for an empty message, which is one byte (RFC 7692 §7.2.3.6).
  return whole.length === 0 ? Buffer.from([0]) : whole.subarray(0, -4)
}

/** Characters that do not compress well, always the same. */
function noise(length) {
  let state = 1
  return Array.from({ length }, () => {
    state = (state * 48_271) % 2_147_483_647
    return String.fromCharCode(33 + (state % 94))
  }).join('')
}
