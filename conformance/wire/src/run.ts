/**
 * `node conformance/wire/dist/src/run.js --adapter native|node-http|uwebsockets [--group g] [--only id] [--tls] [--cuts] [--record]`
 *
 * Plays the cases and prints every one that is not as expected. The exit status is 1 if there is one on `native`, or if
 * another adapter behaves over TLS differently from its recorded verdicts. `--tls` plays the cases over TLS and
 * half-closes with and without FIN; `--cuts` adds every cut; `--record` (not with `native`) writes
 * `recorded/<adapter>.json` and `docs/wire-verdicts.md`.
 */
import { parseArgs } from 'node:util'

import { cases } from './cases/all.ts'
import {
  comparable,
  known,
  readRecorded,
  type RecordedAdapter,
  recordedAdapters,
  writeRecorded,
} from './recorded.ts'
import { type AdapterName, startServer } from './server.ts'
import { cuts, explain, inParallel, judge, otherParallel, targets } from './suite.ts'
import { writeTable } from './table.ts'
import { expectedSummary, summary } from './verdict.ts'

const { values } = parseArgs({
  options: {
    adapter: { type: 'string', default: 'native' },
    group: { type: 'string' },
    only: { type: 'string' },
    tls: { type: 'boolean', default: false },
    cuts: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
  },
})
const adapters: readonly AdapterName[] = ['native', ...recordedAdapters]
const adapter = adapters.find((name) => name === values.adapter)
if (adapter === undefined)
  throw new Error(`--adapter takes one of ${adapters.join(', ')}, not ${values.adapter}`)
const chosen = cases.filter(
  (one) => (values.group ?? one.group) === one.group && (values.only ?? one.id) === one.id,
)
if (chosen.length === 0) throw new Error('no case has this group or id')
if (values.record && (adapter === 'native' || values.tls || chosen.length !== cases.length)) {
  throw new Error('--record takes all cases, and an adapter other than native; over TLS the same is recorded')
}

const server = await startServer(adapter, values.tls ? 'tls' : 'tcp')
const began = performance.now()
const whole = { kind: 'whole' } as const
const plays = chosen.flatMap((one) =>
  targets(server, one).flatMap((target) =>
    [whole, ...(values.cuts ? cuts(one) : [])].map((cut) => ({ target, one, cut })),
  ),
)
const isCompared = values.tls && adapter !== 'native'
const records = isCompared ? readRecorded(adapter).verdicts : {}
const outcomes = await inParallel(
  plays,
  ({ target, one, cut }) => judge(target, one, cut, isCompared ? known(adapter, records[one.id]) : undefined),
  adapter === 'native' ? undefined : otherParallel,
)
const failed = outcomes.filter((outcome) => outcome.differences.length > 0)
for (const outcome of failed) console.log(explain(outcome))
if (values.only !== undefined) {
  for (const one of chosen) console.log(`expected: ${expectedSummary(one)}`)
  for (const outcome of outcomes) console.log(`received: ${summary(outcome.played)}`)
}
const unlike = isCompared ? unlikeRecorded(adapter) : []
for (const line of unlike) console.log(line)
if (values.record) {
  writeRecorded(adapter as RecordedAdapter, outcomes)
  writeTable(
    cases,
    recordedAdapters.map((name) => [name, readRecorded(name)]),
  )
}
const seconds = ((performance.now() - began) / 1000).toFixed(1)
console.log(
  `${adapter}${values.tls ? ' over TLS' : ''}: ${chosen.length} cases, ${plays.length} plays, ${failed.length} not as expected, ` +
    `${server.smuggled()} canaries answered, ${seconds} s`,
)
await server.close()
if (adapter === 'native' && (failed.length > 0 || server.smuggled() > 0)) process.exitCode = 1
if (unlike.length > 0) process.exitCode = 1

/**
 * Gives the cases in which an adapter behaves over TLS differently from its recorded verdicts. Only whole plays are
 * recorded.
 */
function unlikeRecorded(other: RecordedAdapter): string[] {
  return outcomes
    .filter(({ cut }) => cut.kind === 'whole')
    .filter((outcome) => {
      const record = records[outcome.one.id]
      return comparable(other, outcome, record).verdict !== record?.verdict
    })
    .map((outcome) => `not as recorded: ${explain(outcome)}`)
}
