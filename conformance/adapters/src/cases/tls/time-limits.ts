import { connect as connectPlain } from 'node:net'
import { before, describe, test } from 'node:test'
import { TestAuthority } from '@volant/test-kit'
import { eventually, type Kit, within } from '../../kit.ts'
import { passes } from '../../time-limit.ts'
import { serve, textOf } from './asking.ts'

/** How long a handshake may take. */
export function tlsTimeLimits(kit: Kit): void {
  describe('TLS', kit.needs('tls'), () => {
    let authority: TestAuthority

    before(async () => {
      authority = await TestAuthority.make()
    })

    test('a handshake that does not end is ended', async (t) => {
      const clock = kit.clock(t)
      const tlsHandshakeTimeout = clock.isHeld ? 10_000 : 300
      const app = kit.app({ limits: { tlsHandshakeTimeout } })
      app.get('/', () => 'fine')
      const { cert, key } = authority.server(['one.example'])
      await serve(app, { cert, key }, async (port) => {
        const stalled = Array.from({ length: 3 }, () => connectPlain(port, '127.0.0.1'))
        const ends = Promise.all(stalled.map((socket) => textOf(socket)))
        await eventually(() => app.stats().connections === 3, 'three handshakes')
        await passes(clock, tlsHandshakeTimeout, () => app.stats().connections === 0, 'no connection')
        await within(ends, 'the end of the handshakes')
      })
    })
  })
}
