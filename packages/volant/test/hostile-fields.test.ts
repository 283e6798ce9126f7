/** Fields a client may write anything into: no parser of theirs throws, invents, or takes long. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Exchange } from '@volant/engine'
import { acceptedEncoding, acceptedLanguage, acceptedType } from '../src/request/accepts.ts'
import { checkConditions, rangesOf } from '../src/reply/conditional.ts'
import { attachment } from '../src/reply/disposition.ts'
import { originOf } from '../src/request/forwarded.ts'
import { resolveTrust } from '../src/request/trust.ts'
import type { Trust } from '../src/types/request.ts'

const words =
  'for= proto=https host= 1.2.3.4 127.0.0.1 [::1]:80 unknown a=b q= 0.5 */* text/html en-GB W/ "x" bytes= " \\ \\" , ; = % \xff x - 0 *'
const atoms = [...words.split(' '), ' ', '\t', '9'.repeat(30), 'Thu, 29 Feb 2024 12:34:56 GMT']

const trusted = ['x-forwarded', 'forwarded'].flatMap((headers) =>
  [true, 3, ['loopback', '1.2.3.4']].map((from) => resolveTrust({ from, headers }) as Trust),
)

function check(text: string): void {
  const exchange = { remoteAddress: '127.0.0.1', header: () => text } as unknown as Exchange
  for (const trust of trusted) {
    const { ip, ips, protocol } = originOf(exchange, trust)
    assert.ok(ip === ips[0] && ips.at(-1) === '127.0.0.1' && (protocol === 'http' || protocol === 'https'))
  }
  acceptedType(text, ['html', 'json'])
  acceptedLanguage(text, ['en', 'de'])
  acceptedEncoding(text, ['gzip', 'identity'])
  checkConditions(exchange, { etag: '"x"', modified: 0 })
  const ranged = { header: (name: string) => (name === 'range' ? text : undefined) } as unknown as Exchange
  const ranges = rangesOf(ranged, 12, { etag: '"x"', modified: 0 })
  if (ranges !== null && ranges !== 'unsatisfiable') {
    assert.ok(ranges.length > 0)
    for (const { first, last } of ranges) assert.ok(first >= 0 && first <= last && last < 12)
  }
  assert.match(attachment(text), /^[\x20-\x7e]+$/)
}

test('twenty thousand mixtures of what these fields are made of', () => {
  let seed = 7
  const below = (limit: number) => (seed = (seed * 1_103_515_245 + 12_345) & 0x7fff_ffff) % limit
  for (let round = 0; round < 20_000; round++) {
    check(Array.from({ length: below(40) }, () => atoms[below(atoms.length)]).join(''))
  }
})

test('sixteen kilobytes of any two of them in a row take a few milliseconds', () => {
  for (const first of atoms) {
    for (const second of atoms) {
      const mixed = first + second
      const texts = [
        `${mixed.repeat(16_000 / mixed.length)}x`,
        first.repeat(8_000 / first.length) + second.repeat(8_000 / second.length),
      ]
      for (const text of texts) {
        const started = process.cpuUsage().user
        check(text)
        // A parser that is quadratic takes more than 100 ms; all of them together 5.
        assert.ok(process.cpuUsage().user - started < 100_000, JSON.stringify(text.slice(0, 30)))
      }
    }
  }
})
