/** What the framework says for itself, on stderr and stdout. */

type Stream = 'stdout' | 'stderr'

/** Lines on their way. */
const unwritten: Record<Stream, number> = { stdout: 0, stderr: 0 }

/**
 * Writes a line. Nobody may be there to read it, as after `node app.js 2>&1 | head`: without a listener the error of
 * that ends the process. Errors of what the program writes there itself stay its own.
 */
export function printLine(line: string, name: Stream = 'stderr'): void {
  const stream = process[name]
  if (unwritten[name]++ === 0) stream.on('error', ignore)
  stream.write(`${line}\n`, () => {
    // The error comes after the callback.
    setImmediate(() => {
      if (--unwritten[name] === 0) stream.off('error', ignore)
    })
  })
}

function ignore(): void {}
