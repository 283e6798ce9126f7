/** An app that runs in several processes: `npx volant start dist/main.js --workers auto`, or `node dist/main.js` alone. */
import { createApp } from 'volant'
import { worker } from 'volant/cluster'
import { rateLimit } from 'volant/rate-limit'

export const app = createApp()

// The counts are shared by the workers: a client may send 1,000 requests a minute, whichever worker gets them.
app.use(rateLimit({ max: 1_000, timeWindow: '1 minute' }))

app.get('/', () => ({ pid: process.pid, worker: worker.id, workers: worker.count }))

// Each worker runs this file. What has to run once belongs to one of them, or into a step before the start.
if (worker.id === 0) setInterval(() => app.log.info('cleaning up'), 60_000).unref()

await app.listen({ port: Number(process.env.PORT ?? 3000), host: '127.0.0.1' })
