/** A request to the shop that the cases protect. */
import type { App } from 'volant'

export const host = 'shop.example'

export async function status(app: App, method: string, headers: Record<string, string>): Promise<number> {
  const given = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ''))
  return (await app.inject({ method: method as 'GET', url: '/', headers: { host, ...given } })).status
}
