/** The app that most cases run: it says which process answers, and can be slow, blocked, large and broken. */
import { idleLimits } from '@volant/test-kit'

/** Gives the source of a module that Node.js runs as it is. `before` stands before the app listens, `after` behind. */
export function appOf({
  before = '',
  after = '',
  adapter = 'native',
  version = '1',
  // A client that stands still for 2 s between two requests finds its connection open.
  drainIdle = 5_000,
  shutdownTimeout = 20_000,
} = {}): string {
  // A test may open many connections before it asks by the first one, and wait for a worker before it asks again.
  const limits = { drainIdle, shutdownTimeout, ...idleLimits(adapter) }
  return `
import { createApp } from 'volant'
import { worker } from 'volant/cluster'
import { existsSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const app = createApp({ adapter: { type: ${JSON.stringify(adapter)} }, limits: ${JSON.stringify(limits)} })
// Says by a file that it waits, and goes on when the test has written another.
const hold = async (name) => {
  writeFileSync('held-' + name, '')
  while (!existsSync('released-' + name)) await sleep(10)
}
const kept = []
app.get('/', () => ({ pid: process.pid, worker: worker.id, count: worker.count, version: ${JSON.stringify(version)} }))
app.get('/slow', async (ctx) => {
  await sleep(Number(ctx.query.ms))
  return { pid: process.pid }
})
app.get('/hold', async (ctx) => {
  await hold(ctx.query.name)
  return { pid: process.pid }
})
// The supervisor hears of this worker.
app.get('/tell', async () => {
  await worker.cluster()
  return { pid: process.pid }
})
app.post('/echo', (ctx) => ctx.bodyText)
app.get('/block', () => {
  writeFileSync('held-block', '')
  while (!existsSync('released-block'));
  return { pid: process.pid }
})
app.get('/grow', (ctx) => {
  kept.push(Buffer.alloc(Number(ctx.query.bytes), 1))
  return { pid: process.pid }
})
app.get('/exit', () => process.exit(7))
app.get('/close', () => {
  setImmediate(() => app.close())
  return { pid: process.pid }
})
${before}
await app.listen({ port: Number(process.env.PORT ?? 0), host: '127.0.0.1' })
${after}
`
}
