import assert from 'node:assert/strict'
import { test } from 'node:test'

import { canary } from '../src/case.ts'
import { cases } from '../src/cases/all.ts'
import { octets } from '../src/client.ts'

test('there are enough cases, each with an id and a reference of its own', () => {
  assert.ok(cases.length >= 300, `${cases.length}`)
  assert.equal(new Set(cases.map((one) => one.id)).size, cases.length)
  for (const one of cases) assert.ok(one.ref.length > 0, one.id)
})

test('every character of a case is one octet', () => {
  for (const one of cases) {
    for (const step of one.steps) {
      // oxlint-disable-next-line no-control-regex -- octets are what is checked
      if ('bytes' in step) assert.match(step.bytes, /^[\x00-\xff]*$/, one.id)
    }
  }
})

test('36 and more spellings of Transfer-Encoding, alone and beside Content-Length', () => {
  const spellings = cases.filter((one) => one.group === 'transfer-encoding')
  for (const prefix of ['transfer-encoding/alone-', 'transfer-encoding/after-cl-']) {
    assert.ok(spellings.filter((one) => one.id.startsWith(prefix)).length >= 36, prefix)
  }
})

test('a refusal is followed by a canary, and cuts stop before it', () => {
  const refused = cases.filter((one) => Number.isFinite(one.cutLimit))
  assert.ok(refused.length >= 200)
  for (const one of refused) {
    assert.ok(
      one.steps.some((step) => 'bytes' in step && step.bytes.endsWith(canary)),
      one.id,
    )
    assert.equal(one.cutLimit, octets(one.steps) - canary.length + 2, one.id)
    assert.equal(one.expected.end, 'closed', one.id)
  }
})

test('the requests that the attacks embed differ from those of the cases', () => {
  const answered = cases.filter((one) =>
    one.expected.replies.some((reply) => reply.saw?.path === '/smuggled'),
  )
  assert.deepEqual(answered, [])
})
