/** Addresses that may ask, and those that may not. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ipRestriction } from 'volant/middleware'
import { Kit, stderrLines } from '../kit.ts'
import { behind, codeOf, refuses } from './kit.ts'

const kit = new Kit()

describe('ipRestriction', () => {
  const rows: [options: Parameters<typeof ipRestriction>[0], good: string[], bad: string[]][] = [
    [
      { allow: ['192.0.2.0/24'] },
      ['192.0.2.0', '192.0.2.255', '::ffff:192.0.2.7', '::ffff:c000:207', '0:0:0:0:0:ffff:c000:0207'],
      ['192.0.3.0', '::1', '::192.0.2.7'],
    ],
    [{ allow: ['2001:db8::/32'] }, ['2001:db8::1', '2001:0DB8:0:0:0:0:0:1'], ['2001:db9::1', '192.0.2.1']],
    // The notation of an address must not matter (CVE-2026-47674).
    [
      { deny: ['2001:db8::1'] },
      ['2001:db8::2', '192.0.2.1'],
      ['2001:db8::1', '2001:DB8:0:0::1', '2001:db8:0:0:0:0:0.0.0.1'],
    ],
    [{ deny: ['::ffff:192.0.2.1'] }, ['192.0.2.2'], ['192.0.2.1', '::ffff:192.0.2.1', '::FFFF:C000:0201']],
    [{ deny: ['::ffff:192.0.2.0/120'] }, ['192.0.3.1'], ['192.0.2.9']],
    [{ allow: ['10.0.0.0/8'], deny: ['10.0.0.1'] }, ['10.0.0.2'], ['10.0.0.1', '192.0.2.1']],
    [
      { allow: ['loopback', 'private'] },
      ['127.0.0.1', '::1', '10.1.1.1', 'fd00::1'],
      ['192.0.2.1', 'fe80::1'],
    ],
    [{ deny: ['0.0.0.0/0'] }, ['2001:db8::1'], ['192.0.2.1', '::ffff:192.0.2.1']],
  ]
  for (const [options, good, bad] of rows) {
    test(JSON.stringify(options), () =>
      behind(
        ipRestriction(options),
        async (live) => {
          for (const ip of good)
            assert.equal((await live.ask('/x', { headers: { 'x-forwarded-for': ip } })).status, 200, ip)
          for (const ip of bad) {
            const reply = await live.ask('/x', { headers: { 'x-forwarded-for': ip } })
            assert.deepEqual([reply.status, codeOf(reply)], [403, 'E_IP_DENIED'], ip)
          }
        },
        { trustProxy: true },
      ),
    )
  }

  test('a client on a Unix socket is named by its own word', async () => {
    for (const [options, status] of [
      [{ allow: ['unix'] }, 200],
      [{ allow: ['loopback'] }, 403],
      [{ deny: ['unix', 'loopback'] }, 403],
      [{ deny: ['loopback'] }, 200],
    ] as const) {
      const app = kit.app()
      app.use(ipRestriction(options))
      app.get('/x', () => 'x')
      assert.equal(
        (await app.inject({ url: '/x', remoteAddress: '' })).status,
        status,
        JSON.stringify(options),
      )
    }
  })

  test('without trustProxy a field changes nothing, which is said once', async () => {
    const lines = await stderrLines(() =>
      behind(ipRestriction({ deny: ['192.0.2.1'] }), async (live) => {
        const headers = { 'x-forwarded-for': '192.0.2.1' }
        for (let at = 0; at < 2; at++) assert.equal((await live.ask('/x', { headers })).status, 200)
      }),
    )
    assert.deepEqual(lines.filter((line) => /ipRestriction/.test(line)).length, 1)
  })

  test('options that make no sense', () => {
    refuses([
      [() => ipRestriction({}), /ipRestriction takes allow, deny or both/],
      [() => ipRestriction({ allow: [] }), /ipRestriction: allow takes a list/],
      [() => ipRestriction({ allow: '10.0.0.0/8' as never }), /ipRestriction: allow takes a list/],
      ...['10.0.0.0/33', '10.0.0', '010.0.0.1', 'localhost', '::1/129', 'fe80::1%eth0', '', 7].map(
        (each) =>
          [() => ipRestriction({ deny: [each as string] }), /ipRestriction: deny takes addresses/] as const,
      ),
      [() => ipRestriction({ whitelist: [] } as never), /did you mean "allow"/],
    ])
  })
})
