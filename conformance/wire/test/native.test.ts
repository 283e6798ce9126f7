import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import { cases } from '../src/cases/all.ts'
import { type CaseServer, startServer } from '../src/server.ts'
import { cuts, explain, inParallel, judge } from '../src/suite.ts'

/** `npm run test:all` makes every cut, `npm test` every twelfth, beginning with another one for each case. */
const share = process.env['TEST_ALL'] === '1' ? 1 : 12

const unavailable = await reasonNotToRun()

async function reasonNotToRun(): Promise<string | false> {
  try {
    await (await startServer('native')).close()
    return false
  } catch (error) {
    return `native: ${error instanceof Error ? error.message : String(error)}`
  }
}

describe('native engine', { skip: unavailable }, () => {
  let server: CaseServer
  before(async () => {
    server = await startServer('native')
  })
  after(() => server.close())

  for (const group of new Set(cases.map((one) => one.group))) {
    const own = cases.filter((one) => one.group === group)
    test(`${group}: every case whole`, async () => {
      const outcomes = await inParallel(own, (one) => judge(server, one, { kind: 'whole' }))
      assert.deepEqual(outcomes.filter((outcome) => outcome.differences.length > 0).map(explain), [])
    })
    test(`${group}: every case cut at boundaries and octet by octet`, async () => {
      const plays = own.flatMap((one, nth) =>
        cuts(one)
          .filter((cut, at) => cut.kind !== 'at' || (at + nth) % share === 0)
          .map((cut) => ({ one, cut })),
      )
      const outcomes = await inParallel(plays, ({ one, cut }) => judge(server, one, cut))
      assert.deepEqual(outcomes.filter((outcome) => outcome.differences.length > 0).map(explain), [])
    })
  }
  test('no octets of a body or behind a refusal were taken for a request', () =>
    assert.equal(server.smuggled(), 0))
})
