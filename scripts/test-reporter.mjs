/**
 * What a test process tells the runner of scripts/testing: a line of JSON for each test, and at its end one that says how
 * much processor time the process and the processes that it waited for have used, in ms.
 */
import { childrenTime } from './testing/processor-time.mjs'

export default async function* lines(source) {
  const path = []
  for await (const { type, data } of source) {
    const { name, nesting } = data
    if (type === 'test:start') path[nesting] = name
    if (type !== 'test:pass' && type !== 'test:fail') continue
    const { skip, todo, details } = data
    const { error } = details
    // Node.js 20 reports what --test-name-pattern leaves out.
    if (skip === 'test name does not match pattern') continue
    // What only says that something within it failed is no failure of its own; a suite counts when it is one.
    if (type === 'test:pass' ? details.type === 'suite' : error?.failureType === 'subtestsFailed') continue
    const skipped = (skip ?? todo) !== undefined
    const result = skipped ? 'skipped' : type === 'test:pass' ? 'passed' : 'failed'
    const whole = [...path.slice(0, nesting), name]
    const text = result === 'failed' ? textOf(error?.cause ?? error) : ''
    yield `${JSON.stringify({ path: whole, result, error: text, ms: Math.round(details.duration_ms) })}\n`
  }
  yield `${JSON.stringify({ cpu: processorTime() })}\n`
}

/** With the stack, which begins with the message for errors that know where they were made. */
function textOf(error) {
  return typeof error?.stack === 'string' && error.stack !== '' ? error.stack : String(error)
}

function processorTime() {
  const { user, system } = process.cpuUsage()
  return Math.round((user + system) / 1_000) + childrenTime()
}
