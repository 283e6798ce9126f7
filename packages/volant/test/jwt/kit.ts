/** What cases about tokens share: keys, and an app whose only route says who asks. */
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { type App } from 'volant'
import { jwt } from 'volant/jwt'
import { Kit } from '../kit.ts'

export const kit = new Kit()

export const secret = 'correct horse battery staple, and more'
export const other = 'another secret, which is as long as that'
export const base = { secret, algorithms: ['HS256'] } as const
export const signing = { secret, algorithm: 'HS256', expiresIn: '15 minutes' } as const
export const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 })
export const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })

/** An app whose only route says who asks. */
export function guarded(...options: Parameters<typeof jwt>): App {
  const app = kit.app()
  app.with(jwt(...options)).get('/me', (ctx) => ({ user: ctx.state.user as unknown }))
  return app
}

export async function ask(app: App, token: string | null, url = '/me') {
  const headers = token === null ? {} : { authorization: `Bearer ${token}` }
  const reply = await app.inject({ url, headers })
  return { status: reply.status, challenge: reply.headers['www-authenticate'], body: reply.json() as never }
}

export const refused = { status: 401, challenge: 'Bearer error="invalid_token"' }

export async function refuses(app: App, token: string): Promise<void> {
  const { status, challenge, body } = await ask(app, token)
  assert.deepEqual({ status, challenge }, refused)
  assert.equal((body as { detail: string }).detail, 'The token is not valid')
}
