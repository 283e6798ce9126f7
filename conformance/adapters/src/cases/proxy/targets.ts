import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { deferred, type Kit, request } from '../../kit.ts'
import { type Seen, build, all, told, forwarded } from './kit.ts'

/** Targets in absolute form, and hosts that are none. */
export function absoluteTargets(kit: Kit): void {
  describe('trustProxy', () => {
    // RFC 9112 §3.2.2: Host is ignored where the target has an authority.
    const absolute: [string, string, unknown, Record<string, string>, Partial<Seen>][] = [
      ['its authority counts', 'http://b/x?a=1', false, {}, { host: 'b', url: 'http://b/x?a=1' }],
      ['with a port', 'http://b:81/x', false, {}, { host: 'b:81', url: 'http://b:81/x' }],
      ['an IPv6 address', 'http://[::1]:81/x', false, {}, { host: '[::1]:81', url: 'http://[::1]:81/x' }],
      [
        'in any case, as sent',
        'HTTP://B.Example/x',
        false,
        {},
        { host: 'B.Example', url: 'http://b.example/x' },
      ],
      ['the scheme encrypts nothing', 'https://b/x', false, {}, { host: 'b', protocol: 'http' }],
      ['a proxy that is not trusted', 'http://b/x', false, all, { host: 'b' }],
      ['a trusted proxy says more', 'http://b/x?a=1', 'loopback', all, told],
      ['a trusted proxy that says nothing', 'http://b/x', 'loopback', {}, { host: 'b', url: 'http://b/x' }],
      [
        'Forwarded says more',
        'http://b/x',
        forwarded(true),
        { forwarded: 'for=9.9.9.9;host=c' },
        { host: 'c' },
      ],
      [
        'Forwarded without a host',
        'http://b/x',
        forwarded(true),
        { forwarded: 'for=9.9.9.9' },
        { host: 'b' },
      ],
    ]

    for (const [name, target, trustProxy, headers, expected] of absolute) {
      test(`a target in absolute form: ${name}`, kit.needs('target-forms'), async () => {
        await kit.serve(build(kit, trustProxy), async (live) => {
          const reply = await live.ask(target, { headers: { host: 'a', ...headers } })
          const seen = reply.json() as Record<string, unknown>
          for (const [key, value] of Object.entries(expected)) assert.deepEqual(seen[key], value, key)
        })
      })

      test(`inject, a URL: ${name}`, async () => {
        const reply = await build(kit, trustProxy).inject({ url: target, headers: { host: 'a', ...headers } })
        const seen = reply.json() as Record<string, unknown>
        for (const [key, value] of Object.entries(expected)) assert.deepEqual(seen[key], value, key)
      })
    }

    test('a target in absolute form: headers.host is what was sent', kit.needs('target-forms'), async () => {
      const app = kit.app()
      app.get('/x', ({ host, headers }) => [host, headers['host']])
      await kit.serve(app, async (live) => {
        const reply = await live.ask('http://b/x', { headers: { host: 'a' } })
        assert.deepEqual(reply.json(), ['b', 'a'])
      })
    })

    test('a target in absolute form: read after other requests came', kit.needs('target-forms'), async () => {
      const app = kit.app()
      const others = deferred()
      app.post('/late', async (ctx) => {
        await others.promise
        return [ctx.host, ctx.body]
      })
      app.get('/other', () => others.resolve())
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        // A body of this size is not handed over with the head.
        const body = 'x'.repeat(100_000)
        wire.send(request('POST', 'http://b:81/late', { host: 'a', 'content-type': 'text/plain' }, body))
        for (let count = 0; count < 3; count++) await live.ask('/other')
        assert.deepEqual((await wire.reply()).json(), ['b:81', body])
      })
    })

    for (const target of [
      'http:///x',
      'http://u@b/x',
      'http://u:p@b/x',
      'http://b:x/x',
      'http://b:65536/x',
    ]) {
      test(`a target in absolute form: ${target} is 400`, kit.needs('target-forms'), async () => {
        await kit.serve(build(kit, false), async (live) =>
          assert.equal((await live.ask(target, { headers: { host: 'a' } })).status, 400),
        )
      })
    }

    test('a host that is none to a URL does not stop ctx.request', async () => {
      await kit.serve(build(kit, false), async (live) => {
        for (const host of ['1.2.3.4.5', '999.999.999.999', 'a%41%00']) {
          const reply = await live.ask('/x', { headers: { host } })
          assert.equal((reply.json() as Seen).url, 'http://localhost/x')
          assert.equal((reply.json() as Seen).host, host)
        }
      })
    })
  })
}
