/** Counts of rate limits in memory that several processes share. They need no engine that runs. */
import { type CountTable, loadAddon } from './load.ts'

/**
 * Makes a table of so many bytes, from 1,024 to 4 GiB, and gives the number of its descriptor: each process that it is
 * passed to counts in it. It is close-on-exec, and the caller's to close. The table lasts as long as a process has the
 * descriptor or the table open.
 *
 * A key takes 34 bytes while it counts. Keys are spread at random: of a table that is a third full one key in 58,000 goes
 * before its time, half full one in 1,000. It is one of the policy that has the most keys in that place, so that many
 * keys of one limit leave the few of another.
 *
 * Gives null where the addon does not load, or is too old. Throws `E_BAD_OPTION` for another size, and `E_ENGINE` where
 * the system has no such memory.
 */
export function createTable(bytes: number): number | null {
  return addonOf()?.shareTable?.(bytes) ?? null
}

/** The tables of this thread. A table stays mapped as long as the thread runs, and its descriptor open. */
const tables = new Map<number, CountTable>()

/**
 * Opens the table of a descriptor: the same one each time. Gives null where the addon does not load, or is too old. Throws
 * `E_ENGINE` for a descriptor that is none of a table.
 */
export function sharedTable(fd: number): CountTable | null {
  const known = tables.get(fd)
  if (known !== undefined) return known
  const table = addonOf()?.openTable?.(fd) ?? null
  if (table !== null) tables.set(fd, table)
  return table
}

function addonOf() {
  const loaded = loadAddon()
  return 'addon' in loaded ? loaded.addon : null
}
