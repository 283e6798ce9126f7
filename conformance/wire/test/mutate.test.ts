import assert from 'node:assert/strict'
import { test } from 'node:test'

import { cases } from '../src/cases/all.ts'
import { type Finding, corpusOf, search } from '../src/mutate.ts'
import { type CaseServer, startServer } from '../src/server.ts'

/** Seconds of mutation; `FUZZ_SECONDS` and `FUZZ_SEED` override. */
const seconds = Number(process.env['FUZZ_SECONDS'] ?? 5)
const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 2 ** 31)

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

test(`native takes no more for a request than llhttp (seed ${seed}, ${seconds} s)`, async (t) => {
  let server: CaseServer
  try {
    server = await startServer('native')
  } catch (error) {
    t.skip(`native: ${error instanceof Error ? error.message : String(error)}`)
    return
  }
  const { streams, requests, findings } = await search(corpusOf(cases), server.port, seed, seconds)
  await server.close()
  t.diagnostic(`${streams} streams, ${requests} requests`)
  const left = findings.filter(
    (finding) => finding.seen.fault !== null || !allowed.some((row) => row.test(finding)),
  )
  assert.deepEqual(
    left.map((finding) => ({ ...finding.seen, text: finding.text })),
    [],
  )
  assert.equal(requests, server.requests() - server.unanswered(), 'replies and handler runs differ')
  assert.ok(streams > 0 && requests > 0)
})
