/**
 * `npm run h2spec`: runs the 146 cases of h2spec (RFC 9113, RFC 7541; with `-S`, which adds the strict ones) against an
 * app that speaks HTTP/2, twice without TLS and twice over TLS. Fails when a case fails.
 *
 * `-- --adapter node-http` tests an app on node:http2. Only the cases that node:http2 itself fails may fail there.
 * `-- --rivals` prints the results of Node.js, Bun and nghttpd. `-- http2/5.1` and the like run these cases alone.
 * Needs Go, and its module proxy once; without them it says so and passes. Needs openssl for the certificate.
 */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { build } from './build.mjs'
import { bringBun } from './bun.mjs'
import { root } from './command.mjs'
import { goTool } from './go.mjs'

const module = 'github.com/summerwind/h2spec/cmd/h2spec@v2.2.1+incompatible'

/** The reports of the last run stay in this folder. */
const reports = join(root, '.cache/h2spec-reports')

/** The number of cases of version 2.2.1 with `-S`. */
const all = 146

/** The number of runs of each transport, because a case may depend on time. */
const rounds = 2

/** The most failed cases that the terminal shows. The report has all of them. */
const shown = 20

const args = process.argv.slice(2)
const at = args.indexOf('--adapter')
const adapter = at < 0 ? 'native' : args.splice(at, 2)[1]
const rivals = args.includes('--rivals')
const cases = args.filter((each) => each !== '--rivals')

/**
 * The cases that may fail on node:http2. nghttp2 fails these: frames of closed streams (5.1), an identifier that
 * decreases (5.1.1), an acknowledged PING (6.7), and windows beyond 2³¹−1 (6.9.1). Over TLS a stream is closed before
 * the frame arrives that its half-closed state should refuse (5.1/5, 5.1/6, 6.1/2). Bytes that are not the preface are
 * read as HTTP/1.1 and answered so (3.5/2).
 */
const ofNode = [
  '3.5/2',
  '5.1/5',
  '5.1/6',
  '6.1/2',
  '5.1/8',
  '5.1/9',
  '5.1/11',
  '5.1/12',
  '5.1.1/2',
  '6.7/2',
  '6.9.1/2',
  '6.9.1/3',
]
const knownToFail = { native: [], 'node-http': ofNode.map((name) => `http2/${name}`) }

try {
  const command = await goTool('h2spec', module)
  if (command !== null) {
    await build()
    const names = rivals ? ['native', 'node-http', 'node', 'bun', 'nghttpd'] : [adapter]
    if (names.includes('bun')) process.env.BUN ??= await bringBun()
    for (const name of names) await askBoth(command, name)
  }
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
}

async function askBoth(command, name) {
  const { startServer } = await import('../conformance/attacks/dist/src/server.js')
  const { makeCertificate } = await import('@volant/test-kit')
  const certificate = makeCertificate()
  for (const transport of ['h2c', 'TLS']) {
    const server = await startServer(name, { certificate: transport === 'TLS' ? certificate : null })
    try {
      for (let round = 1; round <= rounds; round += 1) ask(command, name, transport, round, server.target)
    } finally {
      await server.stop()
    }
  }
}

/** Runs h2spec. Prints the sum, and each case with an unexpected result. */
function ask(command, name, transport, round, { port, encrypted }) {
  mkdirSync(reports, { recursive: true })
  const report = join(reports, `${name}-${transport}-${round}.xml`)
  const options = ['-S', '-h', '127.0.0.1', '-p', String(port), '-o', '30', '-j', report]
  // A report of an earlier run must not be read.
  rmSync(report, { force: true })
  const ended = spawnSync(command, [...options, ...(encrypted ? ['-t', '-k'] : []), ...cases], {
    encoding: 'utf8',
    maxBuffer: Infinity,
  })
  // Exit code 1 means that a case failed. The report says which one.
  const how = ended.error?.message ?? ended.signal ?? (ended.status > 1 ? `exit code ${ended.status}` : null)
  if (how !== null || !existsSync(report)) {
    const said = `${ended.stdout ?? ''}${ended.stderr ?? ''}`.trim().split('\n').at(-1)
    throw new Error(
      `${name}, ${transport}: h2spec ${how === null ? 'wrote no report' : `ended with ${how}`}: ${said}`,
    )
  }
  const results = casesOf(readFileSync(report, 'utf8'))
  const failed = results.filter(({ verdict }) => verdict === 'failed')
  const skipped = results.filter(({ verdict }) => verdict === 'skipped')
  const passed = results.length - failed.length - skipped.length
  console.log(
    `${name}, ${transport}: ${results.length} tests, ${passed} passed, ${skipped.length} skipped, ${failed.length} failed`,
  )
  const known = knownToFail[name]
  const unknown = [...failed, ...skipped].filter((one) => !known?.includes(one.name))
  for (const one of unknown.slice(0, shown)) console.log(`  ${one.name} ${one.verdict}: ${one.title}`)
  if (unknown.length > shown) console.log(`  and ${unknown.length - shown} more`)
  // The results of other servers are shown and not judged.
  if (known === undefined) return
  const isWhole = cases.length > 0 ? results.length > 0 : results.length === all
  if (unknown.length > 0 || !isWhole) process.exitCode = 1
  if (!isWhole) console.log(`  ${results.length} cases ran, of ${all}`)
}

/** Gives the cases of a JUnit report, numbered within their section as h2spec numbers them: `http2/5.1/8`. */
function casesOf(report) {
  const results = []
  for (const [, suite] of report.matchAll(/<testsuite ([\s\S]*?)<\/testsuite>/g)) {
    let number = 0
    for (const [, head, body] of suite.matchAll(/<testcase ([^>]*)>([\s\S]*?)<\/testcase>/g)) {
      number += 1
      const verdict = /<(failure|error)/.test(body) ? 'failed' : /<skipped/.test(body) ? 'skipped' : 'passed'
      const value = (name) => new RegExp(`${name}="([^"]*)"`).exec(head)?.[1]
      results.push({ name: `${value('package')}/${number}`, title: value('classname'), verdict })
    }
  }
  return results
}
