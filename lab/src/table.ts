/** A table of aligned columns for the terminal. */

export interface Column {
  readonly title: string
  readonly align: 'left' | 'right'
}

/** Lines of the table, columns two spaces apart, without trailing space. */
export function renderTable(columns: readonly Column[], rows: readonly (readonly string[])[]): string[] {
  const widths = columns.map((column, index) =>
    Math.max(column.title.length, ...rows.map((row) => row[index]?.length ?? 0)),
  )
  const line = (cells: readonly string[]): string =>
    columns
      .map((column, index) => {
        const cell = cells[index] ?? ''
        const width = widths[index] as number
        return column.align === 'left' ? cell.padEnd(width) : cell.padStart(width)
      })
      .join('  ')
      .trimEnd()
  return [line(columns.map((column) => column.title)), ...rows.map(line)]
}
