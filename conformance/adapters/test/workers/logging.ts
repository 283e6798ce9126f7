/** An app that writes as many lines as it is asked for, of 200 to 3,000 bytes. */
import { createApp } from 'volant'

// A client keeps its worker by its connection, while others write for long.
const app = createApp({ limits: { keepAliveTimeout: 600_000 } })
app.get('/log', async (ctx) => {
  const count = Number(ctx.query['lines'])
  for (let n = 0; n < count; n++) {
    app.log.info({ n, padding: 'x'.repeat(100 + ((n * 397) % 2_800)) }, 'line')
    // Lines of several turns, so that workers write at the same time.
    if (n % 50 === 49) await new Promise((resolve) => setImmediate(resolve))
  }
  return { pid: process.pid }
})
app.get('/exit', (ctx) => {
  const count = Number(ctx.query['lines'])
  for (let last = 0; last < count; last++) app.log.info({ last, padding: 'x'.repeat(1_000) }, 'line')
  // A write is under way, and the rest waits.
  process.exit()
})
await app.listen(0, '127.0.0.1')
