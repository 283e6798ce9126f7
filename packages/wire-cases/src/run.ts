/**
 * `node packages/wire-cases/dist/src/run.js --adapter native|node-http [--group g] [--only id] [--cuts] [--record]`
 *
 * Plays the cases and prints every one that is not as expected; exit status 1 if there is one on `native`.
 * `--cuts` adds every cut; `--record` (with `node-http`) writes `recorded/node-http.json` and `docs/wire-verdicts.md`.
 */
import { parseArgs } from 'node:util'

import { cases } from './cases/all.ts'
import { readRecorded, writeRecorded } from './recorded.ts'
import { type AdapterName, startServer } from './server.ts'
import { cuts, explain, inParallel, judge, nodeHttpParallel, nodeHttpPatience } from './suite.ts'
import { writeTable } from './table.ts'
import { expectedSummary, summary } from './verdict.ts'

const { values } = parseArgs({
  options: {
    adapter: { type: 'string', default: 'native' },
    group: { type: 'string' },
    only: { type: 'string' },
    cuts: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
  },
})
if (values.adapter !== 'native' && values.adapter !== 'node-http') {
  throw new Error(`--adapter takes native or node-http, not ${values.adapter}`)
}
const adapter: AdapterName = values.adapter
const chosen = cases.filter(
  (one) => (values.group ?? one.group) === one.group && (values.only ?? one.id) === one.id,
)
if (chosen.length === 0) throw new Error('no case has this group or id')
if (values.record && (adapter !== 'node-http' || chosen.length !== cases.length)) {
  throw new Error('--record takes --adapter node-http and all cases')
}

const server = await startServer(adapter)
const began = performance.now()
const whole = { kind: 'whole' } as const
const plays = chosen.flatMap((one) => [whole, ...(values.cuts ? cuts(one) : [])].map((cut) => ({ one, cut })))
const outcomes = await inParallel(
  plays,
  ({ one, cut }) => judge(server.port, one, cut, adapter === 'native' ? 1 : nodeHttpPatience),
  adapter === 'native' ? undefined : nodeHttpParallel,
)
const failed = outcomes.filter((outcome) => outcome.differences.length > 0)
for (const outcome of failed) console.log(explain(outcome))
if (values.only !== undefined) {
  for (const one of chosen) console.log(`expected: ${expectedSummary(one)}`)
  for (const outcome of outcomes) console.log(`received: ${summary(outcome.played)}`)
}
if (values.record) {
  writeRecorded(outcomes)
  writeTable(cases, readRecorded())
}
const seconds = ((performance.now() - began) / 1000).toFixed(1)
console.log(
  `${adapter}: ${chosen.length} cases, ${plays.length} plays, ${failed.length} not as expected, ` +
    `${server.smuggled()} canaries answered, ${seconds} s`,
)
await server.close()
if (adapter === 'native' && (failed.length > 0 || server.smuggled() > 0)) process.exitCode = 1
