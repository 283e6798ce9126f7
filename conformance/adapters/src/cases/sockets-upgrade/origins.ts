import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Kit } from '../../kit.ts'
import { Peer } from '../../peer.ts'
import { refused, codeOf } from './refused.ts'

/** From which origins a WebSocket is opened. */
export function socketOrigins(kit: Kit): void {
  describe('the upgrade to a WebSocket', () => {
    describe('Origin', () => {
      const asked: [string, Record<string, string>, { origins?: '*' | string[] }, boolean][] = [
        ['none passes', {}, {}, true],
        ['the own one passes', { origin: `${kit.scheme}://localhost` }, {}, true],
        [
          'the own one passes over https, as behind a proxy that ends TLS',
          { origin: 'https://localhost' },
          {},
          true,
        ],
        ['a foreign one is 403', { origin: 'http://evil.example' }, {}, false],
        ['one that begins like the own one is 403', { origin: 'http://localhost.evil.example' }, {}, false],
        ['another port is 403', { origin: 'http://localhost:81' }, {}, false],
        ['null is 403', { origin: 'null' }, {}, false],
        ['an empty one is 403', { origin: '' }, {}, false],
        [
          'a listed one passes',
          { origin: 'https://app.example' },
          { origins: ['https://app.example'] },
          true,
        ],
        [
          'one that is not listed is 403',
          { origin: 'https://b.example' },
          { origins: ['https://app.example'] },
          false,
        ],
        [
          'the own one passes beside a list',
          { origin: `${kit.scheme}://localhost` },
          { origins: ['https://app.example'] },
          true,
        ],
        ['null is not listed', { origin: 'null' }, { origins: ['https://app.example'] }, false],
        ['any passes with *', { origin: 'null' }, { origins: '*' }, true],
      ]
      for (const [name, headers, options, passes] of asked) {
        test(name, async () => {
          const app = kit.app()
          app.ws('/a', options)
          if (passes) await kit.serve(app, async (live) => void (await Peer.open(live, '/a', headers)))
          else {
            const reply = await refused(kit, app, '/a', headers)
            assert.deepEqual([reply.status, codeOf(reply)], [403, 'E_ORIGIN_NOT_ALLOWED'])
          }
        })
      }

      test('the own host is that of a trusted proxy, and of nobody else', async () => {
        const forwarded = { origin: 'https://public.example', 'x-forwarded-host': 'public.example' }
        const trusting = kit.app({ trustProxy: 'loopback' })
        trusting.ws('/a', {})
        await kit.serve(trusting, async (live) => void (await Peer.open(live, '/a', forwarded)))
        const app = kit.app()
        app.ws('/a', {})
        assert.equal((await refused(kit, app, '/a', forwarded)).status, 403)
        const secure = kit.app({ trustProxy: 'loopback' })
        secure.ws('/a', {})
        const overTLS = { ...forwarded, origin: 'http://public.example', 'x-forwarded-proto': 'https' }
        assert.equal((await refused(kit, secure, '/a', overTLS)).status, 403)
      })
    })
  })
}
