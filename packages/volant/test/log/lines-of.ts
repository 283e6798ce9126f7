/** What calls of a log write, line by line. */
import assert from 'node:assert/strict'
import { hostname } from 'node:os'
import { type Log, type LogOptions } from '../../src/index.ts'
import { Kit } from '../kit.ts'

const kit = new Kit()

export type Line = Record<string, unknown> & { level: number; msg: string; err: Record<string, unknown> }

/** Gives the lines that `write` makes, each of which has to be one line of JSON. */
export function linesOf(write: (log: Log) => void, options: LogOptions = {}): Line[] {
  const texts: string[] = []
  const app = kit.app({ log: { destination: { write: (text) => void texts.push(text) }, ...options } })
  write(app.log)
  return texts.map((text) => {
    assert.equal(text.indexOf('\n'), text.length - 1)
    // oxlint-disable-next-line no-control-regex -- they are what is looked for
    assert.doesNotMatch(text.slice(0, -1), /[\x00-\x1f\x7f-\x9f\u2028\u2029]/)
    return JSON.parse(text) as Line
  })
}

/** Gives the members of one line that are not the logger's own. */
export function membersOf(fields: unknown, options: LogOptions = {}): Record<string, unknown> {
  const [line] = linesOf((log) => log.info(fields, 'x'), options) as [Line]
  const { level, time, pid, hostname: host, msg, ...members } = line
  assert.deepEqual([level, pid, host, msg], [30, process.pid, hostname(), 'x'])
  assert.ok((time as number) > 1e12)
  return members
}
