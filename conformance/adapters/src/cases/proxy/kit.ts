/** Addresses behind proxies. */
import type { App, AppOptions } from 'volant'
import type { Kit } from '../../kit.ts'

export interface Seen {
  ip: string
  ips: string[]
  protocol: string
  host: string
  url: string
}

export function build(kit: Kit, trustProxy: unknown): App {
  const app = kit.app({ trustProxy } as AppOptions)
  app.get('/x', ({ ip, ips, protocol, host, request: { url } }) => ({ ip, ips, protocol, host, url }))
  return app
}

export const me = '127.0.0.1'

export const all = {
  'x-forwarded-for': '9.9.9.9',
  'x-forwarded-proto': 'https',
  'x-forwarded-host': 'a.example:8443',
}

export const told = {
  ip: '9.9.9.9',
  ips: ['9.9.9.9', me],
  protocol: 'https',
  host: 'a.example:8443',
  url: 'https://a.example:8443/x?a=1',
}

export const forwarded = (from: unknown) => ({ from, headers: 'forwarded' })
