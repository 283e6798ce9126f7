import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'

import { cases } from '../src/cases/all.ts'
import { type Finding, corpusOf, search } from '../src/mutate.ts'
import { type CaseServer, startServer } from '../src/server.ts'

/**
 * Streams that are tried: as many as five seconds of an idle processor allow. `FUZZ_SECONDS` has the search last so long
 * instead, and `FUZZ_SEED` sets what is tried.
 */
const most = 4_000
const seconds = Number(process.env['FUZZ_SECONDS'] ?? 0)
const seed = Number(process.env['FUZZ_SEED'] ?? randomInt(2 ** 31))

/** Where ours may take more for a request than llhttp, and why. */
const allowed: readonly { readonly why: string; readonly test: (finding: Finding) => boolean }[] = [
  {
    why: 'QUERY is a method here; the llhttp of Node.js 20 does not know it',
    test: ({ text }) => /QUERY /.test(text),
  },
  {
    why: 'node:http without an upgrade listener drops what came behind a head with Upgrade; we go on, as it was ignored',
    test: ({ text }) => /^upgrade[ \t]*:/im.test(text),
  },
  {
    why: 'llhttp takes Proxy-Connection for Connection; no RFC knows that field',
    test: ({ text }) => /^proxy-connection[ \t]*:/im.test(text),
  },
]

test(`native takes no more for a request than llhttp (seed ${seed}, ${seconds > 0 ? `${seconds} s` : `${most} streams`})`, async (t) => {
  let server: CaseServer
  try {
    server = await startServer('native')
  } catch (error) {
    t.skip(`native: ${error instanceof Error ? error.message : String(error)}`)
    return
  }
  const end = performance.now() + seconds * 1_000
  const goesOn = (tried: number): boolean => (seconds > 0 ? performance.now() < end : tried < most)
  const { streams, answered, findings } = await search(corpusOf(cases), server.port, seed, goesOn)
  await server.close()
  t.diagnostic(`${streams} streams, ${answered.length} requests`)
  const left = findings.filter(
    (finding) => finding.seen.fault !== null || !allowed.some((row) => row.test(finding)),
  )
  assert.deepEqual(
    left.map((finding) => ({ ...finding.seen, text: finding.text })),
    [],
  )
  const replied = new Set(answered)
  assert.equal(replied.size, answered.length, 'one run of a handler had two replies')
  // The engine drops a request whose client ends its side within the body.
  const lost = Array.from({ length: server.requests() }, (_, at) => at + 1).filter(
    (run) => !replied.has(run) && !server.cutOff.has(run),
  )
  assert.deepEqual(lost, [], 'handlers ran, and their clients have no reply')
  assert.ok(streams > 0 && answered.length > 0)
})
