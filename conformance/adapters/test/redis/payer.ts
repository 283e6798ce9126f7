/** A process of a test: an app that keeps idempotency keys in Redis. Its handler waits until it is told to go on. */
import { createClient } from 'redis'
import { createApp } from 'volant'
import { idempotency } from 'volant/idempotency'
import { redisKeys } from 'volant/redis'

const client = createClient({ url: `redis://127.0.0.1:${process.argv[2]}` })
await client.connect()

const app = createApp({ adapter: { type: 'node-http' }, signals: false })
const store = redisKeys(client)
// A process that stands still loses a key after its lockTimeout.
for (const [path, lockTimeout] of [
  ['/kept', 60_000],
  ['/lost', 2_000],
] as const) {
  app.post(path, idempotency({ store, lockTimeout, storeTimeout: 20_000 }), async () => {
    process.send?.('runs')
    await new Promise((resolve) => process.once('message', resolve))
    return `by ${process.pid}`
  })
}
const { url } = await app.listen({ port: 0, host: '127.0.0.1' })
process.send?.(url)
