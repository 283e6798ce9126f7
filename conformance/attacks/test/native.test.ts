/** The short form of every attack, on the native engine: none may cost more than its goal allows. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { makeCertificate } from '@volant/test-kit'
import { attacks } from '../src/attacks.ts'
import { tryAttack } from '../src/trial.ts'

const skip = process.platform !== 'linux' && 'memory and CPU time are read from /proc'
const certificate = makeCertificate()
after(() => certificate.remove())

/**
 * Attacks on TLS itself run over TLS alone. The others have the same effect on HTTP/2 with and without TLS, and run
 * over TLS only with `TEST_ALL`.
 */
for (const encrypted of [false, true]) {
  describe(encrypted ? 'native, over TLS' : 'native, without TLS', { skip, concurrency: 5 }, () => {
    for (const attack of attacks) {
      const ofTls = attack.overTls === true
      if (encrypted ? !ofTls && process.env['TEST_ALL'] === undefined : ofTls) continue
      test(attack.name, async () => {
        const { faults } = await tryAttack('native', attack, { quick: true, encrypted, certificate })
        assert.deepEqual(faults, [])
      })
    }
  })
}
