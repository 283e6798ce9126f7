/** What readers call an entry. Its name, which the command line takes, stands in the table of entries. */
import type { Table } from '../analysis.ts'
import type { RunEntry } from '../cell.ts'

/** `Volant, native`, and `Volant, native, Node.js 22` of `native@22`. */
export function titleOf({ name, title }: RunEntry): string {
  const version = /@(.+)$/.exec(name)?.[1]
  return version === undefined ? title : `${title}, Node.js ${version}`
}

/** Gives the title of the entry that has this label in a table. */
export function titleIn({ rows }: Pick<Table, 'rows'>, label: string): string {
  const row = rows.find((candidate) => candidate.label === label)
  return row === undefined ? label : titleOf(row.entry)
}
