import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Kit } from '../../kit.ts'
import { type Seen, build, me, all, told, forwarded } from './kit.ts'

const quiet = { ip: me, ips: [me], protocol: 'http', host: 'localhost', url: 'http://localhost/x?a=1' }

const rows: Row[] = [
  ['nobody is trusted by default', undefined, { ...all, forwarded: 'for=9.9.9.9;proto=https' }, quiet],
  ['nor with false', false, all, quiet],
  ['nor a peer that is not on the list', '10.0.0.0/8', all, quiet],
  ['a trusted peer is believed', 'loopback', all, told],
  ['by its address', '127.0.0.1', all, told],
  ['by a range, among others', ['private', '127.0.0.0/8'], all, told],
  ['by a range in IPv6 notation', '::ffff:127.0.0.0/104', all, told],
  ['every peer is, with true', true, all, told],
  ['one hop is, with 1', 1, all, told],
  ['as an option of its own', { from: 'loopback', headers: 'x-forwarded' }, all, told],
  ['nothing said, nothing changed', 'loopback', {}, quiet],
  [
    'an address beyond the proxies is the client, what it says itself is not believed',
    'loopback',
    { 'x-forwarded-for': '1.1.1.1, 9.9.9.9' },
    { ip: '9.9.9.9', ips: ['9.9.9.9', me] },
  ],
  [
    'trusted addresses are skipped',
    ['loopback', '10.0.0.0/8'],
    { 'x-forwarded-for': '1.1.1.1, 9.9.9.9, 10.0.0.2,10.0.0.1' },
    { ip: '9.9.9.9', ips: ['9.9.9.9', '10.0.0.2', '10.0.0.1', me] },
  ],
  ['true takes the farthest', true, { 'x-forwarded-for': '1.1.1.1, 9.9.9.9' }, { ip: '1.1.1.1' }],
  [
    'two hops take the second from the right',
    2,
    { 'x-forwarded-for': '1.1.1.1, 9.9.9.9, 8.8.8.8' },
    { ip: '9.9.9.9' },
  ],
  ['an entry may have a port', 'loopback', { 'x-forwarded-for': '9.9.9.9:1234' }, { ip: '9.9.9.9' }],
  [
    'IPv6, in brackets, with a port',
    'loopback',
    { 'x-forwarded-for': '[2001:DB8:0:0::1]:80' },
    { ip: '2001:db8::1' },
  ],
  [
    'IPv6 without brackets, in its one form',
    'loopback',
    { 'x-forwarded-for': '2001:DB8:0:0::1' },
    { ip: '2001:db8::1' },
  ],
  ['IPv4 in IPv6', 'loopback', { 'x-forwarded-for': '::FFFF:9.9.9.9' }, { ip: '9.9.9.9' }],
  [
    'a trusted IPv4 in IPv6 is skipped',
    ['loopback', '10.0.0.1'],
    { 'x-forwarded-for': '9.9.9.9, ::ffff:a00:1' },
    { ip: '9.9.9.9' },
  ],
  [
    'a field that comes twice is one list',
    'loopback',
    { 'x-forwarded-for': '1.1.1.1', 'X-Forwarded-For': '9.9.9.9' },
    { ip: '9.9.9.9' },
  ],
  ...[
    'garbage',
    '',
    ' ',
    ',',
    '1.2.3',
    '1.2.3.4.5',
    '1.2.3.4x',
    '[::1',
    '::1]',
    '[1.2.3.4]',
    'fe80::1%eth0',
    '<script>',
    'x'.repeat(5_000),
    '127.1',
    '0x7f.0.0.1',
    '9.9.9.9:123456',
  ].map((text): Row => [
    `${JSON.stringify(text.slice(0, 20))} is no address: the proxy is the farthest known`,
    true,
    { 'x-forwarded-for': text },
    { ip: me, ips: [me] },
  ]),
  [
    'garbage left of the client is not read',
    'loopback',
    { 'x-forwarded-for': '"garbage, 9.9.9.9' },
    { ip: '9.9.9.9' },
  ],
  ['the protocol in any case', 'loopback', { 'x-forwarded-proto': 'HTTPS' }, { protocol: 'https' }],
  ...['ftp', 'https:', 'https://evil', '', 'javascript'].map((text): Row => [
    `the protocol ${JSON.stringify(text)} is none`,
    'loopback',
    { 'x-forwarded-proto': text },
    { protocol: 'http' },
  ]),
  [
    'the protocol the proxy added, not what the client wrote',
    'loopback',
    { 'x-forwarded-proto': 'https, http' },
    { protocol: 'http' },
  ],
  [
    'as many steps as there are proxies',
    2,
    { 'x-forwarded-for': '9.9.9.9, 10.0.0.1', 'x-forwarded-proto': 'http, https, http' },
    { protocol: 'https' },
  ],
  [
    'a protocol alone stands for all of them',
    3,
    { 'x-forwarded-for': '9.9.9.9, 10.0.0.1, 10.0.0.2', 'x-forwarded-proto': 'https' },
    { protocol: 'https' },
  ],
  [
    'the host likewise',
    'loopback',
    { 'x-forwarded-host': 'evil.example, good.example' },
    { host: 'good.example' },
  ],
  ...['a b', 'a/b', 'user@host', 'a:99999', 'a?b', '', 'a'.repeat(300), '[::g]'].map((text): Row => [
    `the host ${JSON.stringify(text.slice(0, 20))} is none`,
    'loopback',
    { 'x-forwarded-host': text },
    { host: 'localhost' },
  ]),
  [
    'Forwarded is not read unless it is what the proxies write',
    'loopback',
    { forwarded: 'for=9.9.9.9;proto=https;host=a' },
    quiet,
  ],
  ['X-Forwarded-For is not read where they write Forwarded', forwarded('loopback'), all, quiet],
  ['Forwarded', forwarded('loopback'), { forwarded: 'for=9.9.9.9;proto=https;host="a.example:8443"' }, told],
  [
    'Forwarded: names in any case, spaces around',
    forwarded('loopback'),
    { forwarded: 'FOR=9.9.9.9; Proto=HTTPS ;  by=_x' },
    { ip: '9.9.9.9', protocol: 'https' },
  ],
  [
    'Forwarded: IPv6 with a port, quoted',
    forwarded('loopback'),
    { forwarded: 'for="[2001:db8:cafe::17]:4711"' },
    { ip: '2001:db8:cafe::17' },
  ],
  [
    'Forwarded: the last element is the proxy’s own',
    forwarded('loopback'),
    { forwarded: 'for=1.1.1.1;host=evil, for=9.9.9.9;host=good' },
    { ip: '9.9.9.9', host: 'good' },
  ],
  [
    'Forwarded: what the client cannot break',
    forwarded('loopback'),
    { forwarded: 'for="1.1.1.1, for=9.9.9.9' },
    { ip: '9.9.9.9' },
  ],
  [
    'Forwarded: commas and quotes in quotes',
    forwarded('loopback'),
    { forwarded: 'for=1.1.1.1, by="a,\\"b,\\\\";for="9.9.9.9"' },
    { ip: '9.9.9.9' },
  ],
  [
    'Forwarded: several proxies',
    forwarded(['loopback', '10.0.0.1']),
    { forwarded: 'for=9.9.9.9;proto=https;host=a, for=10.0.0.1;proto=http;host=b' },
    { ip: '9.9.9.9', ips: ['9.9.9.9', '10.0.0.1', me], protocol: 'https', host: 'a' },
  ],
  [
    'Forwarded: unknown',
    forwarded(true),
    { forwarded: 'for=1.1.1.1, for=unknown;proto=https' },
    { ip: me, ips: [me], protocol: 'https' },
  ],
  ['Forwarded: an obfuscated name', forwarded(true), { forwarded: 'for="_SEVKISEK"' }, { ip: me }],
  ...[
    'for',
    'for=',
    'for=1.1.1.1;for=2.2.2.2',
    'for="1.1.1.1',
    'for=1.1.1.1 proto=https',
    'for=[::1]',
    '=',
    ';;;',
    ' '.repeat(5_000) + 'x',
    '"'.repeat(4_000),
    '\\"'.repeat(2_000),
  ].map((text): Row => [
    `Forwarded: ${JSON.stringify(text.slice(0, 30))} is malformed`,
    forwarded(true),
    { forwarded: text },
    { ip: me, protocol: 'http' },
  ]),
]

/** Forwarded and X-Forwarded-*, of proxies that are trusted and of others. */
export function forwardedFields(kit: Kit): void {
  describe('trustProxy', () => {
    for (const [name, trustProxy, headers, expected] of rows) {
      test(name, async () => {
        await kit.serve(build(kit, trustProxy), async (live) => {
          const reply = await live.ask('/x?a=1', { headers })
          assert.equal(reply.status, 200, reply.text)
          const seen = reply.json() as Record<string, unknown>
          for (const [key, value] of Object.entries(expected)) assert.deepEqual(seen[key], value, key)
        })
      })
    }

    test('a thousand entries cost no more than those that count', async () => {
      await kit.serve(build(kit, true), async (live) => {
        const many = Array.from({ length: 1_000 }, (_, at) => `::${at.toString(16)}`).join()
        const reply = await live.ask('/x', { headers: { 'x-forwarded-for': many } })
        const { ips } = reply.json() as Seen
        assert.equal(ips.length, 65)
      })
    })

    test('verdicts on peers are kept, and still right', async () => {
      await kit.serve(build(kit, 'loopback'), async (live) => {
        for (const address of ['9.9.9.9', '127.0.0.1', '9.9.9.9']) {
          const reply = await live.ask('/x', { headers: { 'x-forwarded-for': address } })
          assert.equal((reply.json() as Seen).ip, address)
        }
      })
    })
  })
}

type Row = [name: string, trustProxy: unknown, headers: Record<string, string>, expected: Partial<Seen>]
