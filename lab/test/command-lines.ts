/**
 * Runs command lines of the lab one after the other in this process, since each start of the lab takes half a second.
 * Reads `[{ args, environment }]` as JSON from stdin, and writes `[{ code, output, errors }]`.
 */
import { text } from 'node:stream/consumers'
import { format } from 'node:util'
import { commandLine } from '../src/command-line.ts'

interface Line {
  readonly args: readonly string[]
  readonly environment: Readonly<Record<string, string>>
}

const { log, error } = console
const printed = { output: '', errors: '' }
console.log = (...given) => void (printed.output += `${format(...given)}\n`)
console.error = (...given) => void (printed.errors += `${format(...given)}\n`)

const before = { ...process.env }
const outcomes = []
for (const { args, environment } of JSON.parse(await text(process.stdin)) as Line[]) {
  Object.assign(printed, { output: '', errors: '' })
  Object.assign(process.env, environment)
  const code = await commandLine(args)
  outcomes.push({ code, ...printed })
  for (const name of Object.keys(environment)) {
    if (before[name] === undefined) delete process.env[name]
    else process.env[name] = before[name]
  }
}
Object.assign(console, { log, error })
console.log(JSON.stringify(outcomes))
