/** Requests that came by http, and where they are sent. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { httpsRedirect } from 'volant/middleware'
import { stderrLines } from '../kit.ts'
import { behind, codeOf, refuses } from './kit.ts'

describe('httpsRedirect', () => {
  const list = { allowedHosts: ['shop.example', '*.shop.example'] }

  test('GET and HEAD go to the same address by https:', () =>
    behind(httpsRedirect(list), async (live) => {
      for (const [host, path, to] of [
        ['shop.example', '/x', 'https://shop.example/x'],
        ['SHOP.example.:80', '/x?a=1&b=%0a', 'https://shop.example/x?a=1&b=%0a'],
        ['a.shop.example:8080', '/none', 'https://a.shop.example/none'],
        ['shop.example', '//evil.example/', 'https://shop.example//evil.example/'],
        ['shop.example', '/%2F%2Fevil.example', 'https://shop.example/%2F%2Fevil.example'],
      ] as const) {
        for (const method of ['GET', 'HEAD']) {
          const reply = await live.ask(path, { method, headers: { host } })
          assert.deepEqual([reply.status, reply.headers['location'], reply.text], [308, to, ''])
        }
      }
    }))

  test('nobody is sent to a host that is not listed', () =>
    behind(httpsRedirect(list), async (live) => {
      for (const host of ['evil.example', 'shop.example.evil.example', 'shop.example@evil.example', '']) {
        const reply = await live.ask('/x', { headers: { host } })
        assert.ok(reply.status === 421 || reply.status === 400, host)
        assert.equal(reply.headers['location'], undefined)
      }
    }))

  test('other methods are refused, and probes are let alone', () =>
    behind(httpsRedirect(list), async (live) => {
      const headers = { host: 'shop.example' }
      for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
        const reply = await live.ask('/x', { method, headers })
        assert.deepEqual([reply.status, codeOf(reply)], [403, 'E_HTTPS_REQUIRED'])
      }
      assert.equal((await live.ask('/health', { headers: { host: '10.0.0.7' } })).status, 200)
    }))

  test('what came over https, as a trusted proxy says, is served', () =>
    behind(
      httpsRedirect({ ...list, port: 8443, status: 301 }),
      async (live) => {
        const headers = { host: 'shop.example' }
        assert.equal(
          (await live.ask('/x', { headers: { ...headers, 'x-forwarded-proto': 'https' } })).status,
          200,
        )
        const { status, headers: sent } = await live.ask('/x', { headers })
        assert.deepEqual([status, sent['location']], [301, 'https://shop.example:8443/x'])
      },
      { trustProxy: true },
    ))

  test('a proxy that is not trusted is named, once', async () => {
    const lines = await stderrLines(() =>
      behind(httpsRedirect(list), async (live) => {
        const headers = { host: 'shop.example', 'x-forwarded-proto': 'https' }
        for (let at = 0; at < 3; at++) assert.equal((await live.ask('/x', { headers })).status, 308)
      }),
    )
    assert.deepEqual(
      lines
        .filter((line) => /httpsRedirect/.test(line))
        .map((line) => /for ever, until createApp\({ trustProxy }\)/.test(line)),
      [true],
    )
  })

  test('options that make no sense', () => {
    refuses([
      [() => httpsRedirect({} as never), /httpsRedirect: allowedHosts takes the hosts of this site/],
      [() => (httpsRedirect as Function)(), /httpsRedirect: allowedHosts takes the hosts of this site/],
      [() => httpsRedirect({ allowedHosts: ['https://a'] }), /httpsRedirect: allowedHosts takes host names/],
      [() => httpsRedirect({ ...list, port: 0 }), /httpsRedirect: port/],
      [
        () => httpsRedirect({ ...list, status: 303 as never }),
        /httpsRedirect: status takes 301, 302, 307, 308/,
      ],
      [() => httpsRedirect({ hosts: [] } as never), /did you mean "allowedHosts"/],
    ])
  })
})
