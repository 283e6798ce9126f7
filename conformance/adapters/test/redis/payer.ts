/** A process of a test: an app that keeps idempotency keys in Redis. Its handler waits until it is told to go on. */
import { createClient } from 'redis'
import { createApp } from 'volant'
import { idempotency } from 'volant/idempotency'
import { redisKeys } from 'volant/redis'

const client = createClient({ url: `redis://127.0.0.1:${process.argv[2]}` })
await client.connect()

const app = createApp({ adapter: { type: 'node-http' }, signals: false })
const store = redisKeys(client)
for (const path of ['/kept', '/lost']) {
  app.post(path, idempotency({ store, lockTimeout: 60_000, storeTimeout: 20_000 }), async () => {
    process.send?.('runs')
    await new Promise((resolve) => process.once('message', resolve))
    return `by ${process.pid}`
  })
}
const { url } = await app.listen({ port: 0, host: '127.0.0.1' })
process.send?.(url)
