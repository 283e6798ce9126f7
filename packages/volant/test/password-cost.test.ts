/** An unknown user takes as long as a known one, so that nobody learns by the clock who is known. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hashPassword, verifyPassword } from 'volant/auth'

test('an unknown user takes as long as a known one', async () => {
  const hash = await hashPassword('x')
  const times: number[] = []
  for (const each of [hash, null]) {
    const from = process.cpuUsage().user
    assert.equal(await verifyPassword('y', each), false)
    times.push(process.cpuUsage().user - from)
  }
  const [known = 0, unknown = 0] = times
  assert.ok(unknown > known / 3 && known > unknown / 3, `${known} and ${unknown} µs`)
})
