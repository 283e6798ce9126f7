import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { connect, type ConnectionOptions } from 'node:tls'
import { TestAuthority } from '@volant/test-kit'
import type { Kit } from '../../kit.ts'
import { ask, serve } from './asking.ts'

/** Certificates of clients, and sessions that are resumed. */
export function clientCertificates(kit: Kit): void {
  describe('TLS', kit.needs('tls'), () => {
    let authority: TestAuthority

    before(async () => {
      authority = await TestAuthority.make()
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
          assert.match((await ask(authority, port, { cert: alice.cert, key: alice.key })).text, /CN=alice/)
          await assert.rejects(ask(authority, port), 'none')
          for (const wrong of [bob, mallory, late])
            await assert.rejects(
              ask(authority, port, { cert: wrong.cert, key: wrong.key }),
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
          assert.equal((await ask(authority, port)).text, 'nobody')
          await assert.rejects(ask(authority, port, { cert: mallory.cert, key: mallory.key }))
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
