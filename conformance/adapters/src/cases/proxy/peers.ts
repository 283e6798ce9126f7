import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { AppOptions, VolantError } from 'volant'
import { type Kit, request } from '../../kit.ts'
import { Wire } from '../../wire.ts'
import { type Seen, build, me } from './kit.ts'

/** Which peers are trusted. */
export function peers(kit: Kit): void {
  describe('trustProxy', () => {
    const unix: [unknown, string][] = [
      [false, ''],
      ['unix', '9.9.9.9'],
      [['unix', 'private'], '9.9.9.9'],
      [true, '9.9.9.9'],
      [1, '9.9.9.9'],
      ['loopback', ''],
    ]

    for (const [trustProxy, expected] of unix) {
      test(`a peer on a Unix socket with ${JSON.stringify(trustProxy)}`, async () => {
        const folder = await mkdtemp(join(tmpdir(), 'volant-'))
        const app = build(kit, trustProxy)
        try {
          const wire = await Wire.open(await app.listen({ path: join(folder, 's') }))
          wire.send(request('GET', '/x', { 'x-forwarded-for': '9.9.9.9' }))
          assert.equal(((await wire.reply()).json() as Seen).ip, expected)
          wire.close()
        } finally {
          await app.close()
          await rm(folder, { recursive: true })
        }
      })
    }

    test('IPv4 on a dual-stack listener is IPv4', async () => {
      for (const trustProxy of [false, '127.0.0.1']) {
        const app = build(kit, trustProxy)
        try {
          const { port } = await app.listen({ port: 0 })
          const wire = await Wire.open({ port, host: '127.0.0.1', path: null, url: '' })
          wire.send(request('GET', '/x', { 'x-forwarded-for': '9.9.9.9' }))
          const seen = (await wire.reply()).json() as Seen
          assert.deepEqual(seen.ips, trustProxy === false ? [me] : ['9.9.9.9', me])
          wire.close()
        } finally {
          await app.close()
        }
      }
    })

    const nonsense: [unknown, string][] = [
      ['yes', 'trustProxy'],
      ['', 'trustProxy'],
      [[], 'trustProxy'],
      [0, 'trustProxy'],
      [-1, 'trustProxy'],
      [1.5, 'trustProxy'],
      [65, 'trustProxy'],
      [NaN, 'trustProxy'],
      [null, 'trustProxy'],
      ['10.0.0.0/33', 'trustProxy'],
      ['::1/129', 'trustProxy'],
      ['10.0.0/8', 'trustProxy'],
      ['10.0.0.0/', 'trustProxy'],
      ['::ffff:10.0.0.0/8', 'trustProxy'],
      ['localhost', 'trustProxy'],
      ['toString', 'trustProxy'],
      [['loopback', 5], 'trustProxy'],
      [() => true, 'trustProxy'],
      [{}, 'trustProxy.from'],
      [{ from: 'nobody' }, 'trustProxy.from'],
      [{ from: true, headers: 'both' }, 'trustProxy.headers'],
      [{ from: true, hops: 1 }, 'hops'],
    ]

    for (const [value, name] of nonsense) {
      test(`trustProxy: ${typeof value === 'function' ? 'a function' : JSON.stringify(value)} is refused`, () => {
        assert.throws(
          () => kit.app({ trustProxy: value } as AppOptions),
          (error: VolantError) => error.code === 'E_BAD_OPTION' && error.message.includes(name),
        )
      })
    }
  })
}
