import { connect as connectPlain } from 'node:net'
import { before, describe, test } from 'node:test'
import { TestAuthority } from '@volant/test-kit'
import { eventually, type Kit, within } from '../../kit.ts'
import { serve, textOf } from './asking.ts'

/** How long a handshake may take. */
export function tlsTimeLimits(kit: Kit): void {
  describe('TLS', kit.needs('tls'), () => {
    let authority: TestAuthority

    before(async () => {
      authority = await TestAuthority.make()
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
  })
}
