/** Gives the lines that are written to stderr while `run` runs. */
export async function stderrLines(run: (lines: string[]) => unknown): Promise<string[]> {
  const { write } = process.stderr
  const lines: string[] = []
  process.stderr.write = ((line: string, done?: () => void) => {
    lines.push(line.trimEnd())
    done?.()
    return true
  }) as typeof write
  try {
    await run(lines)
  } finally {
    process.stderr.write = write
  }
  return lines
}
