/** The app has a route that Prometheus scrapes, two that a supervisor asks, and some for those who look for a fault. */
import { before, createApp, health, HTTPError, metrics } from 'volant'
import { basic } from 'volant/auth'
import { debug } from 'volant/debug'

export const database = {
  isUp: true,
  async ping(): Promise<void> {
    if (!this.isUp) throw new Error('the database does not answer')
  },
}

const password = process.env.OPS_PASSWORD

const internal = before((ctx) => {
  if (!['127.0.0.1', '::1', '::ffff:127.0.0.1'].includes(ctx.ip)) throw new HTTPError(404)
})

export const app = createApp()
const meter = metrics()

app.use(meter) // observes every request of the app
app.get('/metrics', internal, meter.handler)
app.register(health, { checks: { database: () => database.ping() } }) // /health and /ready
// Without a guard for clients on this machine alone, and with NODE_ENV=production not at all.
app.register(
  debug,
  password === undefined ? {} : { guard: basic({ realm: 'Operations', users: { ops: password } }) },
)

app.get('/users/:id', (ctx) => ({ id: ctx.params.id }))

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
