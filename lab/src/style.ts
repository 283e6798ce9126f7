/** Escape codes, only where a person reads them. */
export interface Style {
  readonly bold: (text: string) => string
  readonly good: (text: string) => string
  readonly bad: (text: string) => string
}

const plain = (text: string): string => text
const escape = (code: number) => (text: string) => `\u001b[${code}m${text}\u001b[0m`

export function styleFor(colour: boolean): Style {
  return colour
    ? { bold: escape(1), good: escape(32), bad: escape(31) }
    : { bold: plain, good: plain, bad: plain }
}
