/**
 * What the runner prints: a line for each file, then what failed, the ten slowest files, what was measured again, idle
 * time, and the sum.
 */

import { childrenTime } from './processor-time.mjs'

/** How many of the slowest files are named. */
const named = 10

export class Report {
  /** Processor and wall time of all processes of tests, in ms; those whose processor time is not known do not count. */
  #wall = 0
  #cpu = 0
  #begun = performance.now()
  #failures = []
  #slow = []
  /** Measurements that were made again, since other work had disturbed them. */
  #again = []
  #sum = { passed: 0, failed: 0, skipped: 0 }
  /** Seconds that each file or job took, by name. */
  times = {}

  get failed() {
    return this.#sum.failed
  }

  /** Counts what a process found, and says in a line for each file what came of it. */
  add(name, { results, output = '', wall = 0, cpu = null }) {
    const files = bySource(results)
    for (const [source, its] of files) {
      if (files.size === 1) this.#file(name, its, wall, output, cpu)
      else
        this.#file(
          source,
          its,
          its.reduce((sum, { ms = 0 }) => sum + ms, 0),
          output,
        )
    }
    for (const [, what] of output.matchAll(/^made again: (.+)$/gm)) this.#again.push(`${name}: ${what}`)
    this.times[name] = wall / 1_000
    if (cpu === null) return
    this.#wall += wall
    this.#cpu += Math.min(cpu, wall)
  }

  /** Counts one failure that no process found. */
  fail(name, error) {
    this.add(name, { results: [{ source: name, name, result: 'failed', error }] })
  }

  /** Ends the report; its last line is the sum alone. `reasonOf` says why a file may take longer than `longest` ms. */
  end({ reasonOf, longest }) {
    for (const { source, test, error } of this.#failures) {
      console.log(`\n✖ ${source}\n  ${test}\n  ${firstLine(error)}`)
    }
    console.log('\nThe slowest files:')
    for (const { name, ms } of this.#slow.toSorted((one, other) => other.ms - one.ms).slice(0, named)) {
      const reason = ms > longest ? ` (${reasonOf(name) ?? 'the list of suites gives no reason'})` : ''
      console.log(`${seconds(ms).padStart(9)}  ${name}${reason}`)
    }
    if (this.#again.length > 0) {
      console.log('\nMeasurements that were made again, since other work had disturbed them:')
      for (const each of this.#again) console.log(`  ${each}`)
    }
    const idle = this.#wall - this.#cpu
    const share = this.#wall === 0 ? 0 : Math.round((100 * idle) / this.#wall)
    console.log(
      `\nProcesses of tests took ${seconds(this.#wall)} together; for ${seconds(idle)} of it (${share} %) they were idle or waited for a core.`,
    )
    const used = childrenTime()
    if (used > 0) console.log(`All that was started used ${seconds(used)} of processor time.`)
    console.log(`${seconds(performance.now() - this.#begun)}\n${countsOf(this.#sum)}`)
  }

  #file(name, results, ms, output, cpu = null) {
    const counts = { passed: 0, failed: 0, skipped: 0 }
    for (const { source, name: test, result, error } of results) {
      counts[result] += 1
      this.#sum[result] += 1
      if (result === 'failed') this.#failures.push({ source, test, error })
    }
    this.times[name] = ms / 1_000
    this.#slow.push({ name, ms })
    const worked = cpu === null ? '' : `, ${seconds(cpu)} of processor time`
    console.log(`${counts.failed ? '✖' : '✔'} ${name}: ${countsOf(counts)}, ${seconds(ms)}${worked}`)
    if (counts.failed === 0) return
    console.log(output)
    for (const { name: test, result, error } of results) {
      if (result === 'failed') console.log(`✖ ${test}\n${error}\n`)
    }
  }
}

/** Map.groupBy is not in Node.js 20. */
function bySource(results) {
  const files = new Map()
  for (const each of results) files.set(each.source, [...(files.get(each.source) ?? []), each])
  return files
}

function countsOf({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`
}

function seconds(ms) {
  return `${(ms / 1_000).toFixed(1)} s`
}

function firstLine(text) {
  const line = text.split('\n').find((each) => each.trim() !== '')
  return line === undefined ? '' : line.trim()
}
