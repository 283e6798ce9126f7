// Where request logs go that are not written by a logger's own means: lines are gathered for 50 ms or 64 KB, as
// Volant's logger does, so that nobody pays for a write of a single line.
import { createWriteStream } from 'node:fs'

/** ms. */
export const patience = 50
/** Bytes. */
export const chunk = 65_536

/** A stream, as far as morgan and pino want one. */
export function openLog() {
  const file = createWriteStream(process.env.LOG, { flags: 'a' })
  let lines = ''
  let timer
  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    file.write(lines)
    lines = ''
  }
  return {
    write(line) {
      lines += line
      if (lines.length >= chunk) flush()
      else timer ??= setTimeout(flush, patience)
    },
  }
}
