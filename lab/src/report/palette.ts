/** One colour and one dash for each entry, the same on the whole page. */
import type { RunEntry } from '../cell.ts'
import { ours, baseName } from '../ours.ts'

/** Names of CSS classes. */
export type Palette = (label: string) => string

/** `ours`, and `s0` to `s7` for the colour, `d0` to `d3` for the dash: 32 lines that differ. */
export function paletteOf(entries: readonly RunEntry[]): Palette {
  const names = [...new Set([...ours, ...entries.map(({ name }) => name)])]
  return (label) => {
    const index = Math.max(0, names.indexOf(label))
    const own = ours.includes(baseName(label)) ? 'ours ' : ''
    return `${own}s${index % 8} d${Math.floor(index / 8) % 4}`
  }
}
