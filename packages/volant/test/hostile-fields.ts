/** Fields that a client may write anything into, and all parsers of them. */
import assert from 'node:assert/strict'
import type { Exchange } from '@volant/engine'
import { acceptedEncoding, acceptedLanguage, acceptedType } from '../src/request/accepts.ts'
import { checkConditions, rangesOf } from '../src/reply/conditional.ts'
import { attachment } from '../src/reply/disposition.ts'
import { originOf } from '../src/request/forwarded.ts'
import { resolveTrust } from '../src/request/trust.ts'
import type { Trust } from '../src/types/request.ts'

const words =
  'for= proto=https host= 1.2.3.4 127.0.0.1 [::1]:80 unknown a=b q= 0.5 */* text/html en-GB W/ "x" bytes= " \\ \\" , ; = % \xff x - 0 *'
/** These fields are mixtures of such pieces. */
export const atoms = [...words.split(' '), ' ', '\t', '9'.repeat(30), 'Thu, 29 Feb 2024 12:34:56 GMT']

const trusted = ['x-forwarded', 'forwarded'].flatMap((headers) =>
  [true, 3, ['loopback', '1.2.3.4']].map((from) => resolveTrust({ from, headers }) as Trust),
)

/** No parser throws, or invents something. */
export function check(text: string): void {
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
