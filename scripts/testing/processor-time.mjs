/** Processor time of processes. */
import { readFileSync } from 'node:fs'

/**
 * What the processes that this one has waited for have used, with those that they waited for, in ms; 0 where the system
 * does not say so. Linux does: fields 16 and 17 of proc(5), in ticks of 10 ms.
 */
export function childrenTime() {
  if (process.platform !== 'linux') return 0
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1).split(' ')
  return (Number(fields[13]) + Number(fields[14])) * 10
}
