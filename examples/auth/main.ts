/** Sign-in with a password, tokens for people, keys for programs, and a page for the staff. */
import { createHash, randomBytes } from 'node:crypto'
import { createApp, HTTPError } from 'volant'
import {
  anyOf,
  apiKey,
  basic,
  bearer,
  hashPassword,
  needsRehash,
  requireRole,
  requireScope,
  safeEqual,
  verifyPassword,
} from 'volant/auth'
import { rateLimit } from 'volant/rate-limit'
import { z } from 'zod'

const users = new Map([
  ['ada', { name: 'ada', password: await hashPassword('correct horse'), roles: ['editor'] }],
  ['bob', { name: 'bob', password: await hashPassword('battery staple'), roles: [] }],
])

// Of tokens the digests are kept, so that a copy of the database signs nobody in.
const tokens = new Map<string, { name: string; expires: number }>()
const digestOf = (token: string) => createHash('sha256').update(token).digest('base64url')

export const app = createApp()

// Failed sign-ins count, so that nobody can try many passwords, or keep the server busy with hashing them.
const attempts = rateLimit({ max: 5, timeWindow: '15 minutes', refund: (_, { status }) => status < 400 })
const Credentials = z.object({ name: z.string(), password: z.string() })

app.with(attempts).post('/sign-in', { body: Credentials }, async (ctx) => {
  const { name, password } = ctx.body
  const user = users.get(name)
  // With null it takes as long as for a user that exists.
  const isRight = await verifyPassword(password, user?.password ?? null)
  if (user === undefined || !isRight) throw new HTTPError(401, 'Wrong name or password')
  if (needsRehash(user.password)) user.password = await hashPassword(password)
  const token = randomBytes(32).toString('base64url')
  tokens.set(digestOf(token), { name, expires: Date.now() + 3_600_000 })
  return { token }
})

const person = bearer({
  verify: (token) => {
    const known = tokens.get(digestOf(token))
    return known !== undefined && known.expires > Date.now() && users.get(known.name)
  },
})
const program = apiKey({
  in: 'header',
  name: 'x-api-key',
  verify: (key) =>
    safeEqual(key, process.env.SHOP_KEY ?? 'shop-key') && { name: 'shop', scopes: ['orders:read'] },
})

const members = app.with(anyOf(person, program))
members.get('/me', (ctx) => ({ name: ctx.state.user.name, by: ctx.state.auth.scheme }))
members.with(requireScope('orders:read')).get('/orders', () => [{ id: 1 }])
// The body of somebody who is no editor is not read.
members
  .with(requireRole('editor'))
  .post('/articles', { maxBodySize: 8_388_608 }, (ctx) => ({ length: ctx.bodyText.length }))

app
  .with(basic({ realm: 'Staff', users: { carol: process.env.CAROL_PASSWORD ?? 'open sesame' } }))
  .get('/staff', (ctx) => `Hello ${ctx.state.user}`)

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
