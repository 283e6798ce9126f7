/** What a server says of itself: it is asked in lines on standard input, since its port is attacked. */
import { createInterface } from 'node:readline'

let count = 0

/** The first statement of every handler. */
export function entered(): void {
  count += 1
}

/** Tells the port, then answers `count` and `collect`, and ends when it is asked no more. */
export function obey(port: number, collectGarbage: () => void): void {
  const lines = createInterface({ input: process.stdin })
  lines.on('line', (line) => {
    if (line === 'collect') collectGarbage()
    console.log(line === 'collect' ? 'collected' : `count ${count}`)
  })
  lines.on('close', () => process.exit())
  console.log(`listening on ${port}`)
}

/** Node.js is started with --expose-gc. */
export function collectInNode(): void {
  ;(globalThis as { gc?: () => void }).gc?.()
}

export const message = { message: 'Hello World' }
export const large: string = 'x'.repeat(262_144)
