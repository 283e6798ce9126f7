/**
 * A worker for processes.test.ts: `node worker.js KIND MAX`. Descriptor 4 is the table, and 5 a file that gets a line for
 * each request that passed: the number of its key. It waits for a message. Then it begins with the last of the keys, takes
 * from each until that is refused, and goes on with the next one, until it hears `stop`. It sends `wrote` after its first
 * line.
 */
import { once } from 'node:events'
import { fstatSync, readSync, writeSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { sharedTable, type CountTable } from '@volant/engine'
import { createApp } from 'volant'
import { rateLimit, type RateLimitOptions } from 'volant/rate-limit'
import { planOf } from '../../src/rate-limit/options.ts'
import { SharedCounts } from '../../src/rate-limit/shared-counts.ts'
import type { RequestApp } from '../../src/types/request.ts'
import { superviseWith } from './supervision.ts'

const [, , kind, max] = process.argv as [string, string, 'app' | 'counts', string]
superviseWith(4)
const options: RateLimitOptions = {
  max: Number(max),
  timeWindow: '1 day',
  algorithm: 'fixed',
  keyGenerator: (ctx) => ctx.headers['x-key'],
}

/** Sends requests to an app. */
function byApp(): (key: string) => Promise<boolean> {
  const app = createApp({ adapter: { type: 'node-http' }, signals: false })
  app.use(rateLimit(options))
  app.get('/', () => 'x')
  return async (key) => (await app.inject({ url: '/', headers: { 'x-key': key } })).status === 200
}

/**
 * Spends most of its time in the table, with requests that cost nothing. The limit is that of the app, since each is the
 * first of its numbers.
 */
function byCounts(): (key: string) => boolean {
  const counts = new SharedCounts(planOf(options), sharedTable(4) as CountTable)
  const take = (key: string, cost: number) =>
    counts.take({} as RequestApp, [`=${key}`], cost)[0]?.allowed === true
  return (key) => {
    for (let each = 0; each < 100; each++) take(key, 0)
    return take(key, 1)
  }
}

const passes = kind === 'app' ? byApp() : byCounts()
let isStopped = false
let hasWritten = false
process.on('disconnect', () => process.exit())
process.send?.('ready')
await once(process, 'message')
process.on('message', () => (isStopped = true))
for (let key = lastKey(); !isStopped; key++) {
  while (await passes(String(key))) {
    writeSync(5, `${key}\n`)
    if (!hasWritten) process.send?.('wrote')
    hasWritten = true
  }
  // The message comes between turns of the loop.
  await setImmediate()
}
process.disconnect?.()

function lastKey(): number {
  const end = Buffer.alloc(32)
  const read = readSync(5, end, 0, 32, Math.max(0, fstatSync(5).size - 32))
  return Number(end.toString('latin1', 0, read).trimEnd().split('\n').pop())
}
