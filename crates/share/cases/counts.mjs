// Writes counts.json: how keys stand after random steps, as packages/volant/src/rate-limit/counters.ts has it, which the
// tests of that file check against what a window may have. Each step is a time in µs, a cost, and what came of it:
// whether it is allowed, what remains, and the ms until the quota and the units are there; for a refund, nothing.
// Run after `npx tsc -b`: node crates/share/cases/counts.mjs
import { writeFileSync } from 'node:fs'
import { counterOf } from '../../../packages/volant/dist/src/rate-limit/counters.js'

let seed = 1
function below(bound) {
  seed = (seed * 48_271) % 0x7fffffff
  return seed % bound
}
const choose = (list) => list[below(list.length)]

function caseOf(algorithm, max, window) {
  const burst = choose([max, 1 + below(max), 1 + below(10)])
  const quota = { algorithm, max, window, burst: algorithm === 'gcra' ? burst : max }
  const counter = counterOf(quota, 10)
  let now = 1 + choose([0, 1, 2 ** 31, 2 ** 40])
  const steps = []
  for (let each = 0; each < 30; each++) {
    // Mostly a part of what it takes for a unit to come back; at times as much as ends a window, or two.
    const unit = Math.ceil((window * 1_000) / Math.min(max, 20))
    now += choose([
      0,
      1,
      below(unit),
      below(3 * unit),
      each % 7 === 0 ? window * choose([999, 1_000, 2_000]) : 0,
    ])
    const cost = Math.min(choose([0, 1, 1, 1, 2, 1 + below(max)]), counter.most)
    if (each % 5 === 4) {
      counter.refund('k', now, cost)
      steps.push([now, cost])
      continue
    }
    if (counter.check('k', now, cost)) counter.charge()
    steps.push([now, cost, counter.allowed, counter.remaining, counter.reset, counter.retryAfter])
  }
  return { ...quota, steps }
}

const cases = []
for (const algorithm of ['gcra', 'fixed', 'sliding']) {
  for (const max of [1, 2, 3, 7, 100, 1_000]) {
    for (const window of [1, 40, 1_000, 60_000, 31 * 86_400_000]) cases.push(caseOf(algorithm, max, window))
  }
}
writeFileSync(
  new URL('counts.json', import.meta.url),
  `[\n${cases.map((each) => `  ${JSON.stringify(each)}`).join(',\n')}\n]\n`,
)
