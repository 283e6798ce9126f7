// Volant behind a rate limit: of LIMIT requests a day for each address, counted by the workers of a supervisor together,
// and with REDIS by all machines together.
import { createApp } from 'volant'
import { rateLimit } from 'volant/rate-limit'
import { redisStore } from 'volant/redis'
import { createClient } from 'redis'
import { answer, host, nonceIn, port, ready, worker } from '../cluster/work.mjs'

const { LIMIT, REDIS, STORE_TIMEOUT, WORKERS_IN_ALL } = process.env
const app = createApp({ startLine: false })
const shared = {}
if (REDIS) {
  const client = createClient({ url: REDIS, disableOfflineQueue: true })
  // What it says of a server that is gone is for the store to decide about.
  client.on('error', () => {})
  await client.connect()
  Object.assign(shared, { store: redisStore(client), groupId: 'lab', workers: Number(WORKERS_IN_ALL) })
  if (STORE_TIMEOUT) shared.storeTimeout = Number(STORE_TIMEOUT)
  app.onClose(() => client.destroy())
}
app.use((ctx, next) => {
  ctx.header('x-worker', worker)
  return next()
})
app.use(rateLimit({ max: Number(LIMIT), timeWindow: '1 day', ...shared }))
app.get('/json', () => ({ message: 'Hello World' }))
app.get('/:nonce', (ctx) => answer('GET', nonceIn(ctx.params.nonce)))

await app.listen(port, host)
ready()
