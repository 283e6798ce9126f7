/** Reports the state of a server on its standard input and output, because its port is under attack. */
import { createInterface } from 'node:readline'

let count = 0

/** Counts a run. Every handler calls it first. */
export function entered(): void {
  count += 1
}

/** Reports the port, then answers `count` and `collect`. Ends the process when standard input ends. */
export function obey(port: number, collectGarbage: () => void): void {
  const lines = createInterface({ input: process.stdin })
  lines.on('line', (line) => {
    if (line === 'collect') collectGarbage()
    console.log(line === 'collect' ? 'collected' : `count ${count}`)
  })
  lines.on('close', () => process.exit())
  console.log(`listening on ${port}`)
}

/** Collects the garbage of Node.js, which is started with --expose-gc. */
export function collectInNode(): void {
  ;(globalThis as { gc?: () => void }).gc?.()
}

export const message = { message: 'Hello World' }
export const large: string = 'x'.repeat(262_144)
