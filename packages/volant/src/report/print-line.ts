/** The framework's own output on stderr and stdout. */

type Stream = 'stdout' | 'stderr'

/** The number of lines whose write is under way. */
const unwritten: Record<Stream, number> = { stdout: 0, stderr: 0 }

/**
 * Writes a line. If nobody reads the other end, as after `node app.js 2>&1 | head`, the write fails, and without a
 * listener that error would end the process. Errors of the program's own writes are left to the program.
 */
export function printLine(line: string, name: Stream = 'stderr'): void {
  const stream = process[name]
  if (unwritten[name]++ === 0) stream.on('error', ignore)
  stream.write(`${line}\n`, () => {
    // The stream emits the error after the callback.
    setImmediate(() => {
      if (--unwritten[name] === 0) stream.off('error', ignore)
    })
  })
}

function ignore(): void {}
