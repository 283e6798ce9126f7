/** Limits: one for everybody, one for failed sign-ins, and two at once for callers with a key. */
import { createApp, HTTPError } from 'volant'
import { rateLimit } from 'volant/rate-limit'

export const app = createApp()

app.use(rateLimit({ max: 300, timeWindow: '1 minute' }))

// Five wrong passwords in a quarter of an hour; what succeeds gives its unit back.
const signIns = rateLimit({
  groupId: 'sign-in',
  max: 5,
  timeWindow: '15 minutes',
  refund: (_, { status }) => status < 400,
})
app.post('/sign-in', signIns, (ctx) => {
  if (ctx.bodyText !== 'correct horse') throw new HTTPError(401, 'Wrong password')
  return { welcome: true }
})

// Ten in ten seconds, and a thousand a day; the report costs ten times as much as the rest.
app.group('/api', (api) => {
  api.use(
    rateLimit({
      keyGenerator: (ctx) => ctx.headers['x-api-key'],
      policies: { burst: { max: 10, timeWindow: '10 seconds' }, daily: { max: 1_000, timeWindow: '1 day' } },
      cost: (ctx) => (ctx.path === '/api/report' ? 10 : 1),
    }),
  )
  api.get('/items', () => ['a', 'b'])
  api.get('/report', () => ({ items: 2 }))
})

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
