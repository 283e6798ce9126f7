/** Hosts that an app answers for. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { allowedHosts } from 'volant/middleware'
import { behind, codeOf, refuses } from './kit.ts'

describe('allowedHosts', () => {
  const rows: [hosts: string[], good: string[], bad: string[]][] = [
    [
      ['shop.example'],
      ['shop.example', 'SHOP.Example', 'shop.example.', 'shop.example:8443', 'shop.example.:80'],
      ['evil.example', 'shop.example.evil.example', 'xshop.example', 'a.shop.example', 'shop.example..', ''],
    ],
    [
      ['*.shop.example'],
      ['a.shop.example', 'a.b.shop.example', 'A.SHOP.EXAMPLE.', 'a.shop.example:1'],
      ['shop.example', '.shop.example', 'evilshop.example', 'a.shop.example.evil'],
    ],
    [
      ['shop.example:8443'],
      ['shop.example:8443', 'shop.example:08443'],
      ['shop.example', 'shop.example:80', 'shop.example:8444'],
    ],
    // A client leaves the port of its protocol out.
    [
      ['shop.example:80', '*.shop.example:80'],
      ['shop.example', 'shop.example:80', 'a.shop.example', 'shop.example:'],
      ['shop.example:443', 'a.shop.example:81'],
    ],
    [
      ['[::1]', '127.0.0.1'],
      ['[::1]', '[0:0::1]:3000', '127.0.0.1:80'],
      ['127.0.0.2', '[::2]'],
    ],
    [['2001:db8::1'], ['[2001:DB8:0::1]'], ['[2001:db8::2]']],
    [['[::ffff:10.0.0.1]:80'], ['[::ffff:a00:1]'], ['[::ffff:a00:2]']],
    [['SHOP.example.'], ['shop.example'], ['shop']],
  ]
  for (const [hosts, good, bad] of rows) {
    test(`${hosts.join(' and ')}`, () =>
      behind(allowedHosts(hosts), async (live) => {
        for (const host of good) assert.equal((await live.ask('/x', { headers: { host } })).status, 200, host)
        for (const host of bad) {
          const reply = await live.ask('/x', { headers: { host } })
          assert.deepEqual([reply.status, codeOf(reply)], [421, 'E_HOST_NOT_ALLOWED'], host)
        }
      }))
  }

  test('misses and other methods are refused as well, and probes are not', () =>
    behind(allowedHosts(['shop.example']), async (live) => {
      const headers = { host: '10.1.2.3' }
      for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS', 'DELETE'])
        assert.equal((await live.ask('/none', { method, headers })).status, 421)
      assert.equal((await live.ask('/health', { headers })).text, 'well')
    }))

  test('the host that a trusted proxy was asked counts', () =>
    behind(
      allowedHosts(['shop.example']),
      async (live) => {
        const headers = { host: 'inner', 'x-forwarded-host': 'shop.example' }
        assert.equal((await live.ask('/x', { headers })).status, 200)
        assert.equal((await live.ask('/x', { headers: { host: 'inner' } })).status, 421)
      },
      { trustProxy: true },
    ))

  test('without trustProxy nobody gets by with a field', () =>
    behind(allowedHosts(['shop.example']), async (live) => {
      const headers = {
        host: 'evil.example',
        'x-forwarded-host': 'shop.example',
        forwarded: 'host=shop.example',
      }
      assert.equal((await live.ask('/x', { headers })).status, 421)
    }))

  test('options that make no sense', () => {
    const hosts =
      (...list: unknown[]) =>
      () =>
        allowedHosts(list as string[])
    refuses([
      [hosts(), /allowedHosts takes a list of host names .*, not /],
      [() => allowedHosts('shop.example' as never), /allowedHosts takes a list of host names/],
      [hosts('https://shop.example'), /allowedHosts takes host names .* without scheme and path/],
      [hosts('shop.example/x'), /takes host names/],
      [hosts('*'), /takes host names/],
      [hosts('*.*.example'), /takes host names/],
      [hosts('a.*.example'), /takes host names/],
      [hosts('shop..example'), /takes host names/],
      [hosts('.shop.example'), /takes host names/],
      [hosts('shop.example:'), /takes host names/],
      [hosts('shop.example:99999'), /takes host names/],
      [hosts('[::1'), /takes host names/],
      [hosts(''), /takes host names/],
      [hosts(7), /takes host names .*, not 7/],
      [() => allowedHosts(['a'], { ignore: ['health'] }), /allowedHosts: ignore takes paths/],
      [() => allowedHosts(['a'], { hosts: [] } as never), /allowedHosts\(hosts\)/],
    ])
  })
})
