// Writes sealed.json: what texts become under given keys, names and initialisation vectors. It follows the description
// of the format in crates/seal/src/lib.rs, and shares no code with either implementation.
// Run: node crates/seal/cases/sealed.mjs
import { createCipheriv, createHash, createHmac } from 'node:crypto'
import { writeFileSync } from 'node:fs'

const keys = ['0123456789abcdef0123456789abcdef', 'ein Schlüssel, der länger ist als 32 Bytes, in UTF-8']
const names = ['session', '__Host-session', 'ü€𝄞', '', 'n'.repeat(256)]
const texts = [
  '{"padded":"to three blocks of sixteen bytes, no more"}',
  '',
  'a',
  'ab',
  'abc',
  '{"user":"Ada","cart":[1,2,3]}',
  'Grüße, 世界, 𝄞',
  '\0\r\n;,="\\\u007f\u0080\u00ff\u0100\uffff',
  'x'.repeat(200),
  'ü'.repeat(500),
]

const cases = []
for (const [at, text] of texts.entries()) {
  const key = keys[at % keys.length]
  const name = names[at % names.length]
  const derived = hkdf(key, 'volant v1 seal test')
  const iv = createHash('sha256').update(`iv ${at}`).digest().subarray(0, 12)
  cases.push({
    key,
    purpose: 'test',
    derived: derived.toString('hex'),
    name,
    iv: iv.toString('hex'),
    text,
    sealed: seal(derived, iv, name, text),
  })
}
const rows = cases.map((row) => `  ${JSON.stringify(row)}`)
writeFileSync(new URL('sealed.json', import.meta.url), `[\n${rows.join(',\n')}\n]\n`)

/** RFC 5869 with SHA-256 and no salt: 32 bytes of key, 6 of id. */
function hkdf(key, info) {
  const hmac = (secret, ...parts) =>
    parts.reduce((mac, part) => mac.update(part), createHmac('sha256', secret)).digest()
  const extracted = hmac(Buffer.alloc(32), key)
  const first = hmac(extracted, info, Buffer.of(1))
  return Buffer.concat([first, hmac(extracted, first, info, Buffer.of(2)).subarray(0, 6)])
}

function seal(derived, iv, name, text) {
  const prefix = `v1.${derived.toString('base64url', 32)}.`
  const cipher = createCipheriv('aes-256-gcm', derived.subarray(0, 32), iv).setAAD(Buffer.from(prefix + name))
  const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return `${prefix}${iv.toString('base64url')}.${ciphertext.toString('base64url')}`
}
