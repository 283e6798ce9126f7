/** Which entries are Volant: they are no rivals of each other. */
import type { RunEntry } from './cell.ts'

/** The entries that are Volant, in the order they are told about. */
export const ours: readonly string[] = ['native', 'node-http', 'uwebsockets']

/** `native` of `native@22` and of `native#2`. */
export function baseName(label: string): string {
  return /^[^@#]*/.exec(label)?.[0] || label
}

export function isOurs(entry: RunEntry): boolean {
  return ours.includes(baseName(entry.name))
}
