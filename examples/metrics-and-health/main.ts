/** The app has a route that Prometheus scrapes, and two that a supervisor asks. */
import { before, createApp, health, HTTPError, metrics } from 'volant'

export const database = {
  isUp: true,
  async ping(): Promise<void> {
    if (!this.isUp) throw new Error('the database does not answer')
  },
}

const internal = before((ctx) => {
  if (!['127.0.0.1', '::1', '::ffff:127.0.0.1'].includes(ctx.ip)) throw new HTTPError(404)
})

export const app = createApp()
const meter = metrics()

app.use(meter) // observes every request of the app
app.get('/metrics', internal, meter.handler)
app.register(health, { checks: { database: () => database.ping() } }) // /health and /ready

app.get('/users/:id', (ctx) => ({ id: ctx.params.id }))

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
