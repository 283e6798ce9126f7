/** Each request gets a line of JSON, as pino writes it: `node dist/main.js | npx pino-pretty`. */
import { createApp, HTTPError, logger } from 'volant'

export const lines: string[] = []

export const app = createApp({ report: () => undefined }) // unexpected errors are in the log already

app.use(
  logger({
    headers: ['user-agent', 'authorization'], // what they say is logged, but for secrets
    redact: ['req.query.token'],
    ignore: ['/health'],
    props: (ctx) => ({ tenant: ctx.headers['x-tenant'] ?? 'none' }),
    destination: { write: (line) => void lines.push(line) }, // left out, it is standard output
  }),
)

app.get('/health', () => 'ok')
app.get('/users/:id', (ctx) => ({ id: ctx.params.id }))
app.get('/missing', () => {
  throw new HTTPError(404, 'No such thing')
})
app.get('/broken', () => {
  throw new Error('out of paper')
})

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
