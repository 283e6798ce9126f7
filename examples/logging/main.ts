/** Each request gets a line of JSON, as pino writes it: `node dist/main.js | npx pino-pretty`. */
import { createApp, HTTPError, logger } from 'volant'
import { findUser } from './users.ts'

export const lines: string[] = []

export const app = createApp({
  report: () => undefined, // unexpected errors are in the log already
  log: {
    level: process.env.NODE_ENV === 'production' ? 'info' : 'debug',
    redact: ['email', 'req.query.code'], // beside passwords, tokens, keys, cookies and authorization
    destination: { write: (line) => void lines.push(line) }, // left out, it is standard output
  },
})

app.use(
  logger({
    headers: ['user-agent', 'authorization'], // what they say is logged, but for secrets
    ignore: ['/health'],
    props: (ctx) => ({ tenant: ctx.headers['x-tenant'] ?? 'none' }),
  }),
)

app.get('/health', () => 'ok')
app.get('/users/:id', async (ctx) => {
  const user = await findUser(ctx.params.id)
  ctx.log.info({ user }, 'found') // {…,"reqId":"7k33HY-0002","user":{"id":"7","email":"[Redacted]"},"msg":"found"}
  return { id: user.id }
})
app.get('/missing', () => {
  throw new HTTPError(404, 'No such thing')
})
app.get('/printed', (ctx) => {
  try {
    throw new Error('out of paper')
  } catch (error) {
    ctx.log.warn(error, 'printing later')
    return { printed: false }
  }
})
app.get('/broken', () => {
  throw new Error('out of paper')
})

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
app.log.info('listening on %s', url) // outside of requests: without an id
