import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { inspect } from 'node:util'
import { nativeEngine, nativeSealer, type TextSealer } from '@volant/engine'
import { type DerivedKey, deriveKeys } from '../src/cookies/key-ring.ts'
import { longestName, longestText, nodeSealer } from '../src/cookies/node-sealing.ts'
import { bytesOf, type Sealer, sealerBy, sealerOf } from '../src/cookies/sealer.ts'

const oldKey = 'an old key, which has 32 bytes ..'
const newKey = 'a new key, which has 32 bytes ...'
const implementations: Record<string, (derived: readonly DerivedKey[]) => TextSealer | null> = {
  'the engine': (derived) => nativeSealer(bytesOf(derived)),
  'node:crypto': nodeSealer,
}
const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

interface Case {
  readonly key: string
  readonly purpose: string
  readonly derived: string
  readonly name: string
  readonly text: string
  readonly sealed: string
}
const cases = JSON.parse(
  readFileSync(new URL('../../../../crates/seal/cases/sealed.json', import.meta.url), 'utf8'),
) as Case[]

test('the engine seals wherever it runs', () => {
  assert.equal(nativeSealer(new Uint8Array(38)) === null, 'reason' in nativeEngine())
})

for (const [name, implementation] of Object.entries(implementations)) {
  const make = (keys: string[], purpose: string): Sealer => {
    const derived = deriveKeys(keys, `seal ${purpose}`, 'keys')
    return sealerBy(implementation(derived) as TextSealer, derived)
  }
  if (implementation(deriveKeys([newKey], 'seal test', 'keys')) === null) continue

  describe(`sealed texts, by ${name}`, () => {
    const sealer = make([newKey, oldKey], 'test')

    for (const [index, { key, purpose, name, text, sealed }] of cases.entries()) {
      test(`opens case ${index} of crates/seal`, () => {
        assert.deepEqual(make([key], purpose).open(name, sealed), { text, isNewest: true })
      })
    }

    for (const text of [
      '',
      'x',
      '{"user":7}',
      'ü€𝄞 \0',
      'y'.repeat(4_096),
      '\u{10ffff}'.repeat(longestText / 4),
    ]) {
      test(`opens ${text.length} characters`, () => {
        const sealed = sealer.seal('a', text)
        assert.match(sealed, /^v1\.[\w-]{8}\.[\w-]{16}\.[\w-]{22,}$/)
        assert.deepEqual(sealer.open('a', sealed), { text, isNewest: true })
      })
    }

    test('never seals to the same text twice', () => {
      assert.notEqual(sealer.seal('a', 'x'), sealer.seal('a', 'x'))
    })

    test('replaces unpaired surrogates, as UTF-8 does', () => {
      assert.equal(sealer.open('a', sealer.seal('a', 'a\ud800b\udc00'))?.text, 'a\ufffdb\ufffd')
    })

    test('takes the longest text, and none above', () => {
      assert.equal(sealer.open('a', sealer.seal('a', 'x'.repeat(longestText)))?.text.length, longestText)
      for (const text of ['x'.repeat(longestText + 1), 'ü'.repeat(longestText / 2 + 1)]) {
        assert.throws(() => sealer.seal('a', text), { code: 'E_BAD_COOKIE', message: /the most are 16384/ })
      }
      const name = 'n'.repeat(longestName)
      assert.equal(sealer.open(name, sealer.seal(name, 'x'))?.text, 'x')
      assert.throws(() => sealer.seal(`${name}n`, 'x'), { code: 'E_BAD_COOKIE', message: /a name of 257/ })
      assert.equal(sealer.open('ü'.repeat(longestName), sealer.seal(name, 'x')), null)
    })

    test('opens under its own name and for its own purpose alone', () => {
      const sealed = sealer.seal('a', 'x')
      for (const name of ['', 'b', 'A', 'a.', 'aa', 'ü']) assert.equal(sealer.open(name, sealed), null, name)
      assert.equal(make([newKey], 'other').open('a', sealed), null)
    })

    test('opens by each of its keys, and by no other', () => {
      const sealed = make([oldKey], 'test').seal('a', 'x')
      assert.deepEqual(sealer.open('a', sealed), { text: 'x', isNewest: false })
      assert.deepEqual(make([oldKey, newKey], 'test').open('a', sealed), { text: 'x', isNewest: true })
      assert.equal(make([newKey], 'test').open('a', sealed), null)
    })

    test('refuses every other spelling: each character changed, added or left out', () => {
      for (const text of ['', 'a', 'ab', 'abc']) {
        const sealed = sealer.seal('name', text)
        for (let at = 0; at <= sealed.length; at++) {
          const [before, after] = [sealed.slice(0, at), sealed.slice(at + 1)]
          for (const other of `${letters}.=+/ \n\0üŁ`) {
            if (other !== sealed[at]) assert.equal(sealer.open('name', before + other + after), null)
            assert.equal(sealer.open('name', before + other + sealed.slice(at)), null)
          }
          if (at < sealed.length) assert.equal(sealer.open('name', before + after), null)
          if (at < sealed.length) assert.equal(sealer.open('name', before), null)
        }
      }
    })

    test('gives null for what was never sealed', () => {
      const { length } = sealer.seal('a', 'x'.repeat(longestText))
      const head = sealer.seal('a', '').slice(0, 29)
      const hostile: unknown[] = ['', '.', '...', 'v1', 'v1.', 'v1...', 'v1.AAAAAAAA.AAAAAAAAAAAAAAAA.', head]
      hostile.push(undefined, null, 5, {}, ['x'], head + 'A'.repeat(20), head + 'A'.repeat(length))
      hostile.push(head.replace('v1', 'v2') + 'A'.repeat(22), 'A'.repeat(1_000_000), '\ud800'.repeat(100))
      for (const sealed of hostile) assert.equal(sealer.open('a', sealed as string), null, inspect(sealed))
    })
  })
}

test('each implementation opens what the other sealed', () => {
  const engine = sealerOf([newKey], 'both')
  const derived = deriveKeys([newKey], 'seal both', 'keys')
  const node = sealerBy(nodeSealer(derived), derived)
  for (let round = 0; round < 3_000; round++) {
    const text = String.fromCharCode(...randomUnits(round % 100 === 0 ? 4_096 : round % 300))
    const expected = { text: Buffer.from(text).toString(), isNewest: true }
    assert.deepEqual(node.open('a', engine.seal('a', text)), expected)
    assert.deepEqual(engine.open('a', node.seal('a', text)), expected)
  }
})

test('keys are derived as the cases say', () => {
  for (const { key, purpose, derived } of cases) {
    assert.equal(Buffer.from(bytesOf(deriveKeys([key], `seal ${purpose}`, 'keys'))).toString('hex'), derived)
  }
})

/** Characters of one byte, of two, and of all, so that all representations of a text come. */
function randomUnits(size: number): number[] {
  const mask = [0x7f, 0xff, 0xffff][size % 3] as number
  const random = randomBytes(size * 2)
  return Array.from({ length: size }, (_, index) => random.readUInt16LE(index * 2) & mask)
}

describe('keys', () => {
  const rows: [keys: unknown, says: RegExp][] = [
    [
      undefined,
      /^keys takes an array of 1 to 16 texts, the newest first, not undefined: make a key with "openssl/,
    ],
    [newKey, /not a text: make/],
    [[], /not an empty array/],
    [Array.from({ length: 17 }, () => newKey), /1 to 16/],
    [[newKey, 5], /^keys\[1\] takes a text, not 5/],
    // eslint-disable-next-line no-sparse-arrays
    [[newKey, , newKey], /^keys\[1\] takes a text, not undefined/],
    [
      ['x'.repeat(31)],
      /^keys\[0\] takes a text of 32 bytes or more, not one of 31: make a key with "openssl rand -base64 32"/,
    ],
    [[newKey, 'secret'], /^keys\[1\] .* not one of 6/],
  ]
  for (const [index, [keys, says]] of rows.entries()) {
    test(`bad keys ${index} are refused, and not shown`, () => {
      assert.throws(
        () => sealerOf(keys as string[], 'test'),
        (error: Error & { code: string }) =>
          error.code === 'E_BAD_OPTION' && says.test(error.message) && !/new key|secret/.test(error.message),
      )
    })
  }

  test('the option is named', () => {
    assert.throws(() => sealerOf([], 'test', 'session: keys'), /^VolantError: session: keys takes/)
  })

  test('16 keys of 32 bytes are taken', () => {
    const keys = Array.from({ length: 16 }, (_, index) => String.fromCharCode(228 + index).repeat(16))
    const sealed = sealerOf(keys.slice(-1), 'test').seal('a', 'x')
    assert.deepEqual(sealerOf(keys, 'test').open('a', sealed), { text: 'x', isNewest: false })
  })

  test('no key is seen in what is printed', () => {
    assert.doesNotMatch(
      inspect(sealerOf([newKey], 'test'), { depth: 10, showHidden: true }),
      /new key|secret/,
    )
  })
})
