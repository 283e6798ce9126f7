/** Apps with a limit, and what they answer to so many requests. */
import type { App, AppOptions, Context } from 'volant'
import { type RateLimiter, rateLimit, type RateLimitOptions } from 'volant/rate-limit'
import { Kit } from '../kit.ts'

export const kit = new Kit()

export function limited(options: RateLimitOptions, more: AppOptions = {}): App & { limiter: RateLimiter } {
  const app = kit.app(more)
  const limiter = rateLimit(options)
  app.use(limiter)
  app.get('/', () => 'x')
  return Object.assign(app, { limiter })
}

/** Gives the statuses of so many requests. */
export async function statuses(app: App, count: number, headers: Record<string, string> = {}, url = '/') {
  const list: number[] = []
  for (let each = 0; each < count; each++) list.push((await app.inject({ url, headers })).status)
  return list
}

export const fields = (headers: Record<string, unknown>) => [
  headers['ratelimit-policy'],
  headers['ratelimit'],
]

export const byName = (ctx: Context) => ctx.headers['x-name']
