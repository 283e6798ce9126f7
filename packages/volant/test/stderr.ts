/** Gives what is written to stderr while `run` runs. */
export async function stderrOf(run: () => Promise<unknown>): Promise<string> {
  const { write } = process.stderr
  let text = ''
  process.stderr.write = (chunk: string | Uint8Array): boolean => {
    text += String(chunk)
    return true
  }
  try {
    await run()
  } finally {
    process.stderr.write = write
  }
  return text
}
