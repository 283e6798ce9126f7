/** A server with the keys of an issuer, tokens of it, and the time that passes for requests of key sets. */
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import type { TestContext } from 'node:test'
import type { App, Context } from 'volant'
import { jwk, signJwt } from 'volant/jwt'
import type { Kit, Live } from '../../kit.ts'

/** Keys of an issuer, by the ids that its tokens name. */
export const pairs = Object.fromEntries(
  ['first', 'second', 'unknown'].map((kid) => [kid, generateKeyPairSync('ec', { namedCurve: 'P-256' })]),
) as Record<'first' | 'second' | 'unknown', { publicKey: KeyObject; privateKey: KeyObject }>

export const jwkOf = (kid: keyof typeof pairs, more: object = {}) => ({
  ...pairs[kid].publicKey.export({ format: 'jwk' }),
  kid,
  ...more,
})

export const setOf = (...keys: object[]) => ({ keys })

export const issued = { algorithms: ['ES256'], issuer: false, audience: false, timeout: 60_000 } as const

/** Where apps report their errors to, for cases that look at them. */
export const reportsOf = new WeakMap<App, unknown[]>()

/** The limits of the requests for key sets, which end when a case says so: a slow machine may take any time. */
const limits: AbortController[] = []

export function tokenOf(kid: keyof typeof pairs, header: { kid?: string } = {}): Promise<string> {
  const options = {
    key: pairs[kid].privateKey,
    algorithm: 'ES256',
    expiresIn: '1 hour',
    kid,
    ...header,
  } as const
  return signJwt({ sub: 'ada' }, options)
}

/** A server with keys, which answers as a case says. */
export interface Issuer {
  fetches: number
  answer: (ctx: Context) => unknown
}

interface Issuing {
  readonly issuer: Issuer
  readonly url: string
  readonly app: App
  readonly live: Live
  /** Gives the status of a request with the token. */
  ask(token: string): Promise<number>
}

type Run = (issuing: Issuing) => Promise<void>

/** Serves an issuer, and an app that takes its tokens. */
export async function issuing(kit: Kit, run: Run): Promise<void> {
  const issuer: Issuer = { fetches: 0, answer: () => setOf() }
  const server = kit.app({ report: () => {} })
  server.get('/keys', (ctx) => {
    issuer.fetches++
    return issuer.answer(ctx)
  })
  server.get('/elsewhere', () => setOf(jwkOf('first')))
  await kit.serve(server, async ({ address }) => {
    const url = `http://127.0.0.1:${address.port}/keys`
    const app: App = kit.app({ report: (error) => void (reportsOf.get(app) ?? kit.reports).push(error) })
    app.with(jwk({ ...issued, url })).get('/me', () => 'x')
    await kit.serve(app, (live) => {
      const ask = async (token: string): Promise<number> =>
        (await live.ask('/me', { headers: { authorization: `Bearer ${token}` } })).status
      return run({ issuer, url, app, live, ask })
    })
  })
}

/** Lets the time of all requests for key sets run out. */
export function runOut(): void {
  for (const limit of limits.splice(0)) limit.abort(new DOMException('It took too long', 'TimeoutError'))
}

export function hasLeft({ signal }: Context): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve()))
}

/** An answer that never comes. */
export function overdue(ctx: Context): Promise<void> {
  runOut()
  return hasLeft(ctx)
}

/** Gives a function that lets time pass. Otherwise it stands still, for all but timers. */
export function clockOf(t: TestContext): (ms: number) => void {
  let now = performance.now()
  t.mock.method(performance, 'now', () => now)
  t.mock.method(AbortSignal, 'timeout', () => {
    const limit = new AbortController()
    limits.push(limit)
    t.after(() => limits.splice(0))
    return limit.signal
  })
  return (ms) => {
    now += ms
  }
}
