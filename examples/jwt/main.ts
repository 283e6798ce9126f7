/** Sign-in with tokens: an access token of 15 minutes, and a refresh token that works once. */
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { createApp, HTTPError } from 'volant'
import { hashPassword, requireScope, verifyPassword } from 'volant/auth'
import { jwt, signJwt } from 'volant/jwt'
import { z } from 'zod'

// All processes of a service have the same secret. One that is made at start ends all tokens with the process.
const secret = process.env.JWT_SECRET ?? randomBytes(32)
const issuer = 'https://notes.example'

const users = new Map([
  ['ada', { password: await hashPassword('correct horse'), scope: 'notes:read notes:write' }],
  ['bob', { password: await hashPassword('battery staple'), scope: 'notes:read' }],
])

// Of refresh tokens the digests are kept, so that a copy of the database signs nobody in.
const refreshTokens = new Map<string, { user: string; family: string; isUsed: boolean }>()
const digestOf = (token: string) => createHash('sha256').update(token).digest('base64url')

async function tokensFor(user: string, family: string) {
  const refreshToken = randomBytes(32).toString('base64url')
  refreshTokens.set(digestOf(refreshToken), { user, family, isUsed: false })
  const claims = { sub: user, scope: users.get(user)?.scope }
  const accessToken = await signJwt(claims, { secret, algorithm: 'HS256', issuer, expiresIn: '15 minutes' })
  return { accessToken, refreshToken }
}

export const app = createApp()

app.post('/sign-in', { body: z.object({ name: z.string(), password: z.string() }) }, async (ctx) => {
  const { name, password } = ctx.body
  const isRight = await verifyPassword(password, users.get(name)?.password ?? null)
  if (!isRight) throw new HTTPError(401, 'Wrong name or password')
  return tokensFor(name, randomUUID())
})

app.post('/refresh', { body: z.object({ refreshToken: z.string() }) }, (ctx) => {
  const known = refreshTokens.get(digestOf(ctx.body.refreshToken))
  if (known === undefined) throw new HTTPError(401, 'Sign in again')
  if (known.isUsed) {
    // Two have this token, and one of them stole it: all that came from the same sign-in end.
    for (const [digest, { family }] of refreshTokens) {
      if (family === known.family) refreshTokens.delete(digest)
    }
    throw new HTTPError(401, 'Sign in again')
  }
  known.isUsed = true
  return tokensFor(known.user, known.family)
})

const signedIn = app.with(
  jwt({ secret, algorithms: ['HS256'], issuer, schema: z.object({ sub: z.string() }) }),
)
signedIn.get('/me', (ctx) => ({ name: ctx.state.user.sub }))
signedIn
  .with(requireScope('notes:write'))
  .post('/notes', (ctx) => ({ by: ctx.state.user.sub, text: ctx.bodyText }))

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
