/** One of several processes that share a limit: answers the number of requests that passed. */
import { createClient } from 'redis'
import { createApp } from 'volant'
import { rateLimit } from 'volant/rate-limit'
import { redisStore } from 'volant/redis'

const [url, max, requests] = process.argv.slice(2)
const client = createClient({ url: url as string })
await client.connect()
const app = createApp({ signals: false })
const options = { max: Number(max), timeWindow: '1 day', groupId: 'shared', storeTimeout: 20_000 }
app.use(rateLimit({ ...options, store: redisStore(client) }))
app.get('/', () => 'x')
const replies = await Promise.all(Array.from({ length: Number(requests) }, () => app.inject('/')))
process.send?.(replies.map(({ status }) => status))
client.destroy()
await app.close()
