import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectPlain, type Socket } from 'node:net'
import { before, describe, test } from 'node:test'
import { freePort, TestAuthority } from '@volant/test-kit'
import { eventually, type Kit, within } from '../../kit.ts'
import { ask, serve, textOf } from './asking.ts'

/** Handshakes that fail, and requests that come without TLS. */
export function tlsHandshakes(kit: Kit): void {
  describe('TLS', kit.needs('tls'), () => {
    let authority: TestAuthority

    before(async () => {
      authority = await TestAuthority.make()
    })

    test('plain HTTP on the port is answered with 400, anything else with a closed connection', async () => {
      // Without a check for its end, the connection would stay open for this long.
      const app = kit.app({ limits: { tlsHandshakeTimeout: 600_000 } })
      app.get('/', () => 'fine')
      const { cert, key } = authority.server(['one.example'])
      await serve(app, { cert, key }, async (port) => {
        const plain = connectPlain(port, '127.0.0.1')
        plain.write('GET / HTTP/1.1\r\nHost: one.example\r\n\r\n')
        const reply = await textOf(plain)
        assert.match(reply, /^HTTP\/1\.1 400 Bad Request\r\n/)
        const noise = connectPlain(port, '127.0.0.1')
        noise.write(Buffer.from([0, 1, 2, 3, 4, 5, 6, 7]))
        assert.doesNotMatch(await textOf(noise), /HTTP/)
        for (const isReset of [true, false]) {
          const cut = connectPlain(port, '127.0.0.1')
          cut.write(Buffer.from([0x16, 3, 1, 2, 0, 1, 0, 1]))
          if (isReset) cut.resetAndDestroy()
          else cut.end()
        }
        await eventually(() => app.stats().connections === 0, 'the end of cut handshakes')
        assert.equal((await ask(authority, port)).text, 'fine')
      })
    })

    test('past maxHandshakes the oldest of them is ended, and no other', async () => {
      const app = kit.app({ limits: { tlsHandshakeTimeout: 600_000, maxHandshakes: 2 } })
      app.get('/', () => 'fine')
      const { cert, key } = authority.server(['one.example'])
      await serve(app, { cert, key }, async (port) => {
        const stalled: { socket: Socket; end: Promise<string> }[] = []
        for (let opened = 0; opened < 3; opened++) {
          const socket = connectPlain(port, '127.0.0.1')
          stalled.push({ socket, end: textOf(socket) })
          await once(socket, 'connect')
        }
        const [first, ...others] = stalled as [(typeof stalled)[0], ...typeof stalled]
        assert.equal(await within(first.end, 'the end of the oldest handshake'), 'ECONNRESET')
        await eventually(() => app.stats().connections === 2, 'two handshakes are left')
        for (const { socket } of others) socket.destroy()
        await eventually(() => app.stats().connections === 0, 'no connection')
        assert.equal((await ask(authority, port)).text, 'fine')
      })
    })

    test('many handshakes that begin at once leave maxHandshakes', async () => {
      const app = kit.app({ limits: { tlsHandshakeTimeout: 600_000, maxHandshakes: 2 } })
      const { cert, key } = authority.server(['one.example'])
      await serve(app, { cert, key }, async (port) => {
        const sockets = Array.from({ length: 30 }, () =>
          connectPlain(port, '127.0.0.1').on('error', () => {}),
        )
        await eventually(() => sockets.filter(({ destroyed }) => destroyed).length === 28, '28 are ended')
        assert.equal(app.stats().connections, 2)
        for (const socket of sockets) socket.destroy()
      })
    })

    test('redirectHttp sends requests for names of the certificate to HTTPS, and no others', async () => {
      const app = kit.app()
      app.get('/', () => 'fine')
      const { cert, key } = authority.server(['one.example', '*.two.example', '127.0.0.1'])
      const second = await freePort()
      const { port } = await app.listen({
        port: 0,
        host: '127.0.0.1',
        tls: { cert, key },
        redirectHttp: { port: second },
      })
      try {
        const locationFor = async (name: string, target = '/a?b=%20c'): Promise<string | undefined> => {
          const socket = connectPlain(second, '127.0.0.1')
          socket.write(`GET ${target} HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n\r\n`)
          const text = await textOf(socket)
          assert.match(text, /^HTTP\/1\.1 (?:308|400) /)
          return /\r\nlocation: (.*)\r\n/i.exec(text)?.[1]
        }
        const base = `:${port}/a?b=%20c`
        assert.equal(await locationFor('one.example'), `https://one.example${base}`)
        assert.equal(await locationFor(`ONE.example:${second}`), `https://one.example${base}`)
        assert.equal(await locationFor('x.two.example'), `https://x.two.example${base}`)
        assert.equal(await locationFor('127.0.0.1'), `https://127.0.0.1${base}`)
        for (const name of ['evil.example', 'two.example', 'one.example.evil.example', '127.0.0.2'])
          assert.equal(await locationFor(name), undefined)
        assert.equal(
          await locationFor('one.example', '//evil.example/'),
          `https://one.example:${port}//evil.example/`,
        )
      } finally {
        await app.close()
      }
      assert.match(await textOf(connectPlain(second, '127.0.0.1')), /ECONNREFUSED/)
    })
  })
}
