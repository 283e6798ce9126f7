// Counts the runs of the handlers that are measured: `ran()` is the first statement of each. The lab sends SIGUSR2 and
// finds the count in the file `ran` of the scratch folder; fewer runs than replies disqualify the cell. It costs every
// entry the same: one addition.
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { collectGarbage } from './collect-garbage.mjs'

let count = 0

export function ran() {
  count += 1
}

process.on('SIGUSR2', () => {
  // Where memory is measured, it is measured after this.
  if (process.env.COLLECT) collectGarbage()
  const file = join(process.env.SCRATCH, 'ran')
  writeFileSync(`${file}.new`, String(count))
  renameSync(`${file}.new`, file)
})
