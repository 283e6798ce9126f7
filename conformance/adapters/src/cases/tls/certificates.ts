import assert from 'node:assert/strict'
import type { RequestOptions } from 'node:https'
import { before, describe, test } from 'node:test'
import { connect, type ConnectionOptions } from 'node:tls'
import { TestAuthority } from '@volant/test-kit'
import type { TlsOptions } from 'volant'
import { eventually, type Kit } from '../../kit.ts'
import { type Seen, ask, serve, textOf } from './asking.ts'

const host = (name: string): RequestOptions => ({ servername: name, headers: { host: name } })

/** Certificates of servers, their replacement, and what handlers see of TLS. */
export function serverCertificates(kit: Kit): void {
  describe('TLS', kit.needs('tls'), () => {
    let authority: TestAuthority

    before(async () => {
      authority = await TestAuthority.make()
    })

    test('a client gets the certificate of the host that it names, else the first', async () => {
      const app = kit.app()
      app.get('/', (ctx) => `${ctx.protocol} ${ctx.host}`)
      const certificates = [authority.server(['two.example']), authority.server(['*.three.example'])].map(
        ({ cert, key }) => ({ cert, key }),
      )
      const { cert, key } = authority.server(['one.example', '127.0.0.1'])
      await serve(app, { cert, key, certificates }, async (port) => {
        for (const [name, names] of [
          ['one.example', 'DNS:one.example, IP Address:127.0.0.1'],
          ['two.example', 'DNS:two.example'],
          ['TWO.example', 'DNS:two.example'],
          ['a.three.example', 'DNS:*.three.example'],
        ] as const)
          assert.deepEqual(await ask(authority, port, host(name)), {
            status: 200,
            text: `https ${name}`,
            names,
          })
        const bare = await ask(authority, port, { servername: '', headers: { host: '127.0.0.1' } })
        assert.deepEqual([bare.status, bare.names], [200, 'DNS:one.example, IP Address:127.0.0.1'])
      })
    })

    test('a request for a host with another certificate is 421', async () => {
      const app = kit.app()
      let handled = 0
      app.get('/', () => String(++handled))
      const { cert, key } = authority.server(['one.example', 'also.example'])
      const two = authority.server(['two.example'])
      const certificates = [{ cert: two.cert, key: two.key }]
      await serve(app, { cert, key, certificates }, async (port) => {
        const other = await ask(authority, port, {
          servername: 'one.example',
          headers: { host: `two.example:${port}` },
        })
        assert.equal(other.status, 421)
        assert.equal((JSON.parse(other.text) as { code: string }).code, 'E_MISDIRECTED')
        assert.equal(handled, 0)
        const same = await ask(authority, port, {
          servername: 'one.example',
          headers: { host: `ALSO.example.:${port}` },
        })
        assert.equal(same.status, 200)
      })
    })

    test('ctx.tls says what the handshake agreed on; the certificate of the client is in it', async () => {
      const app = kit.app()
      app.get('/', (ctx) => {
        const { peer, ...rest } = ctx.tls ?? { peer: null }
        return { ...rest, subject: peer?.subject ?? null }
      })
      app.get('/same', (ctx) => ({ same: ctx.tls === ctx.tls }))
      const { cert, key } = authority.server(['one.example'])
      const alice = authority.client('alice')
      const tls: TlsOptions = { cert, key, ca: authority.ca, requestCert: true, rejectUnauthorized: false }
      await serve(app, tls, async (port) => {
        const none = JSON.parse((await ask(authority, port)).text) as Record<string, unknown>
        const { cipher, ...rest } = none
        assert.match(String(cipher), /^TLS_/)
        assert.deepEqual(rest, {
          version: 'TLSv1.3',
          alpn: null,
          serverName: 'one.example',
          resumed: false,
          subject: null,
        })
        const choosing: RequestOptions & ConnectionOptions = {
          maxVersion: 'TLSv1.2',
          cert: alice.cert,
          key: alice.key,
          ALPNProtocols: ['http/1.1'],
        }
        const older = await ask(authority, port, choosing)
        const seen = JSON.parse(older.text) as Record<string, unknown>
        assert.equal(seen['version'], 'TLSv1.2')
        assert.equal(seen['alpn'], 'http/1.1')
        assert.match(String(seen['subject']), /CN=alice/)
        assert.deepEqual(JSON.parse((await ask(authority, port, { path: '/same' })).text), { same: true })
      })
      const plain = kit.app()
      plain.get('/', (ctx) => ({ tls: ctx.tls }))
      assert.deepEqual((await plain.inject('/')).json(), { tls: null })
    })

    test('setTls gives new connections the new certificate; no request fails meanwhile', async () => {
      const app = kit.app()
      app.get('/', () => 'fine')
      const pairs = [authority.server(['one.example']), authority.server(['one.example', 'new.example'])]
      const tlsOf = (at: number): TlsOptions => ({ cert: pairs[at]?.cert, key: pairs[at]?.key })
      await serve(app, tlsOf(0), async (port) => {
        const kept = connect({ port, host: '127.0.0.1', servername: 'one.example', ca: authority.ca })
        await eventually(() => kept.authorized, 'a handshake')
        let running = true
        const seen: Seen[] = []
        const load = Array.from({ length: 4 }, async () => {
          while (running) seen.push(await ask(authority, port))
        })
        for (let round = 1; round <= 6; round++) {
          const had = seen.length
          await eventually(() => seen.length > had + 4, 'replies')
          app.setTls(tlsOf(round % 2))
        }
        running = false
        await Promise.all(load)
        assert.deepEqual(new Set(seen.map(({ status, text }) => `${status} ${text}`)), new Set(['200 fine']))
        assert.equal(new Set(seen.map(({ names }) => names)).size, 2)
        kept.write('GET / HTTP/1.1\r\nHost: one.example\r\nConnection: close\r\n\r\n')
        assert.match(await textOf(kept), /fine$/)
      })
    })

    test('setTls that fails changes nothing and says why', async () => {
      const app = kit.app()
      app.get('/', () => 'fine')
      const [one, two] = [authority.server(['one.example']), authority.server(['one.example'])]
      await serve(app, { cert: one.cert, key: one.key }, async (port) => {
        assert.throws(() => app.setTls({ cert: two.cert, key: one.key }), /is not the key of tls\.cert/)
        assert.equal((await ask(authority, port)).text, 'fine')
      })
    })

    test('setTls of a closed app throws, and leaves other apps alone', async () => {
      const [one, two] = [authority.server(['one.example']), authority.server(['one.example', 'new.example'])]
      const closed = kit.app()
      await closed.listen({ port: 0, host: '127.0.0.1', tls: { cert: one.cert, key: one.key } })
      await closed.close()
      const app = kit.app()
      app.get('/', () => 'fine')
      await serve(app, { cert: one.cert, key: one.key }, async (port) => {
        assert.throws(() => closed.setTls({ cert: two.cert, key: two.key }), /this app is closed/)
        assert.equal((await ask(authority, port)).names, 'DNS:one.example')
      })
    })
  })
}
