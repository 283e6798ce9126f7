/** An app for processes.test.ts, which `volant start` runs. */
import { createApp } from 'volant'
import { rateLimit } from 'volant/rate-limit'

const app = createApp()
app.use(rateLimit({ max: 10, timeWindow: '1 day', algorithm: 'fixed' }))
app.get('/', () => process.pid)
await app.listen({ port: 0, host: '127.0.0.1' })
