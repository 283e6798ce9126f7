/** The app that most cases run: it says which process answers, and can be slow, blocked, large and broken. */

/** Gives the source of a module that Node.js runs as it is. `before` stands before the app listens, `after` behind. */
export function appOf({ before = '', after = '', adapter = 'native', version = '1' } = {}): string {
  return `
import { createApp } from 'volant'
import { worker } from 'volant/cluster'
import { setTimeout as sleep } from 'node:timers/promises'

const app = createApp({ adapter: { type: ${JSON.stringify(adapter)} }, limits: { drainIdle: 1000, shutdownTimeout: 8000 } })
const kept = []
app.get('/', () => ({ pid: process.pid, worker: worker.id, count: worker.count, version: ${JSON.stringify(version)} }))
app.get('/slow', async (ctx) => {
  await sleep(Number(ctx.query.ms))
  return { pid: process.pid }
})
app.post('/echo', (ctx) => ctx.bodyText)
app.get('/block', (ctx) => {
  for (const end = Date.now() + Number(ctx.query.ms); Date.now() < end;);
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
