/** TLS: certificates of servers and of clients, their replacement, refused handshakes, and what handlers see. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { get, type RequestOptions } from 'node:https'
import { connect as connectPlain, type Socket } from 'node:net'
import { before, describe, test } from 'node:test'
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls'
import { freePort, TestAuthority } from '@volant/test-kit'
import type { App, TlsOptions } from 'volant'
import { eventually, type Kit, Live, within } from '../kit.ts'

interface Seen {
  readonly status: number
  readonly text: string
  /** The names for which the certificate of the server is valid. */
  readonly names: string | undefined
}

export function tlsCases(kit: Kit): void {
  describe('TLS', kit.needs('tls'), () => {
    let authority: TestAuthority
    before(async () => {
      authority = await TestAuthority.make()
    })

    const ask = (port: number | null, options: RequestOptions = {}): Promise<Seen> =>
      new Promise((resolve, reject) => {
        const request = get(
          { port, host: '127.0.0.1', servername: 'one.example', ca: authority.ca, agent: false, ...options },
          (response) => {
            const names = (response.socket as TLSSocket).getPeerX509Certificate()?.subjectAltName
            let text = ''
            response.on('data', (chunk: Buffer) => (text += chunk.toString()))
            response.on('end', () => resolve({ status: response.statusCode ?? 0, text, names }))
          },
        )
        request.on('error', reject)
      })

    const serve = async (app: App, tls: TlsOptions, run: (port: number) => Promise<void>): Promise<void> => {
      const address = await app.listen({ port: 0, host: '127.0.0.1', tls })
      assert.equal(address.url, `https://127.0.0.1:${address.port}`)
      const live = new Live(app, address)
      try {
        await run(address.port as number)
      } finally {
        live.closeAll()
        await app.close()
      }
    }

    const host = (name: string): RequestOptions => ({ servername: name, headers: { host: name } })

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
          assert.deepEqual(await ask(port, host(name)), { status: 200, text: `https ${name}`, names })
        const bare = await ask(port, { servername: '', headers: { host: '127.0.0.1' } })
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
        const other = await ask(port, { servername: 'one.example', headers: { host: `two.example:${port}` } })
        assert.equal(other.status, 421)
        assert.equal((JSON.parse(other.text) as { code: string }).code, 'E_MISDIRECTED')
        assert.equal(handled, 0)
        const same = await ask(port, {
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
        const none = JSON.parse((await ask(port)).text) as Record<string, unknown>
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
        const older = await ask(port, choosing)
        const seen = JSON.parse(older.text) as Record<string, unknown>
        assert.equal(seen['version'], 'TLSv1.2')
        assert.equal(seen['alpn'], 'http/1.1')
        assert.match(String(seen['subject']), /CN=alice/)
        assert.deepEqual(JSON.parse((await ask(port, { path: '/same' })).text), { same: true })
      })
      const plain = kit.app()
      plain.get('/', (ctx) => ({ tls: ctx.tls }))
      assert.deepEqual((await plain.inject('/')).json(), { tls: null })
    })

    describe('certificates of clients', () => {
      test('none, a wrong one and a revoked one are refused where they are required', async () => {
        const app = kit.app()
        app.get('/', (ctx) => ctx.tls?.peer?.subject ?? 'nobody')
        const { cert, key } = authority.server(['one.example'])
        const [alice, bob, late] = [
          authority.client('alice'),
          authority.client('bob'),
          authority.client('late', -1),
        ]
        const mallory = (await TestAuthority.make('another')).client('mallory')
        const tls = { cert, key, ca: authority.ca, crl: authority.revoke(bob), requestCert: true }
        await serve(app, tls, async (port) => {
          assert.match((await ask(port, { cert: alice.cert, key: alice.key })).text, /CN=alice/)
          await assert.rejects(ask(port), 'none')
          for (const wrong of [bob, mallory, late])
            await assert.rejects(
              ask(port, { cert: wrong.cert, key: wrong.key }),
              wrong.issued.certificate.subject,
            )
        })
      })

      test('where they are optional, a wrong one is refused all the same', async () => {
        const app = kit.app()
        app.get('/', (ctx) => ctx.tls?.peer?.subject ?? 'nobody')
        const { cert, key } = authority.server(['one.example'])
        const mallory = (await TestAuthority.make('another')).client('mallory')
        const tls = { cert, key, ca: authority.ca, requestCert: true, rejectUnauthorized: false }
        await serve(app, tls, async (port) => {
          assert.equal((await ask(port)).text, 'nobody')
          await assert.rejects(ask(port, { cert: mallory.cert, key: mallory.key }))
        })
      })

      for (const [name, ticketKeys] of [
        ['of this process', undefined],
        ['that processes share', randomBytes(48)],
      ] as const)
        test(`a session is resumed, but not once its client is revoked, with keys ${name}`, async () => {
          const app = kit.app()
          app.get('/', (ctx) => String(ctx.tls?.resumed))
          const { cert, key } = authority.server(['one.example'])
          const alice = authority.client('alice')
          const tls = {
            cert,
            key,
            ca: authority.ca,
            requestCert: true,
            ...(ticketKeys !== undefined && { ticketKeys }),
          }
          await serve(app, tls, async (port) => {
            const client = { port, cert: alice.cert, key: alice.key, ca: authority.ca }
            const first = await resumable(client)
            assert.match(first.reply, /false$/)
            assert.match((await resumable({ ...client, session: first.session })).reply, /true$/)
            app.setTls({ ...tls, crl: authority.revoke(alice) })
            await assert.rejects(resumable({ ...client, session: first.session }))
          })
        })

      test('with the same ticketKeys another server resumes the session, unless it admits other clients', async () => {
        const ticketKeys = randomBytes(48)
        const { cert, key } = authority.server(['one.example'])
        const alice = authority.client('alice')
        const client = { cert: alice.cert, key: alice.key, ca: authority.ca }
        const tls = { cert, key, ca: authority.ca, requestCert: true, ticketKeys }
        const another = await TestAuthority.make('another')
        const apps = [kit.app(), kit.app(), kit.app()] as const
        for (const app of apps) app.get('/', (ctx) => String(ctx.tls?.resumed))
        await serve(apps[0], tls, async (port) => {
          const { session } = await resumable({ ...client, port })
          // Another process has another command line, and Node.js derives the session context from it.
          process.argv.push('another')
          try {
            await serve(apps[1], tls, async (second) =>
              assert.match((await resumable({ ...client, port: second, session })).reply, /true$/),
            )
          } finally {
            process.argv.pop()
          }
          await serve(apps[2], { ...tls, ca: [authority.ca, another.ca] }, async (third) =>
            assert.match((await resumable({ ...client, port: third, session })).reply, /false$/),
          )
        })
      })

      test('sessionTimeout: 0 has no session resumed', async () => {
        const app = kit.app()
        app.get('/', (ctx) => String(ctx.tls?.resumed))
        const { cert, key } = authority.server(['one.example'])
        await serve(app, { cert, key, sessionTimeout: 0 }, async (port) => {
          const { session } = await resumable({ port, ca: authority.ca })
          // The server of node:tls sends a ticket nevertheless. It stands for no session.
          const again = session.length > 0 ? { session } : {}
          assert.match((await resumable({ port, ca: authority.ca, ...again })).reply, /false$/)
        })
      })
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
          while (running) seen.push(await ask(port))
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
        assert.equal((await ask(port)).text, 'fine')
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
        assert.equal((await ask(port)).names, 'DNS:one.example')
      })
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
        assert.equal((await ask(port)).text, 'fine')
      })
    })

    test('a handshake that does not end is ended', async () => {
      const app = kit.app({ limits: { tlsHandshakeTimeout: 300 } })
      app.get('/', () => 'fine')
      const { cert, key } = authority.server(['one.example'])
      await serve(app, { cert, key }, async (port) => {
        const stalled = Array.from({ length: 3 }, () => connectPlain(port, '127.0.0.1'))
        await Promise.all(stalled.map((socket) => within(textOf(socket), 30_000, 'the end of a handshake')))
        await eventually(() => app.stats().connections === 0, 'no connection')
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
        assert.equal(await within(first.end, 30_000, 'the end of the oldest handshake'), 'ECONNRESET')
        await eventually(() => app.stats().connections === 2, 'two handshakes are left')
        for (const { socket } of others) socket.destroy()
        await eventually(() => app.stats().connections === 0, 'no connection')
        assert.equal((await ask(port)).text, 'fine')
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

/** Resolves with the bytes that arrive until the socket closes, or with the error that ends it. */
function textOf(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(text === '' ? `${error.code}` : text))
    socket.on('close', () => resolve(text))
    socket.on('end', () => socket.destroy())
  })
}

/** Sends one request, and gives the session that the client may resume. */
function resumable(options: ConnectionOptions): Promise<{ reply: string; session: Buffer }> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', servername: 'one.example', ...options })
    let session: Buffer = Buffer.alloc(0)
    let reply = ''
    socket.on('session', (bytes: Buffer) => (session = bytes))
    socket.on('error', reject)
    socket.on('data', (chunk: Buffer) => (reply += chunk.toString('latin1')))
    socket.on('close', () =>
      reply === '' ? reject(new Error('closed without a reply')) : resolve({ reply, session }),
    )
    socket.write('GET / HTTP/1.1\r\nHost: one.example\r\nConnection: close\r\n\r\n')
  })
}
