/** Counts the open WebSockets of each client, for the limit `maxSocketsPerAddress`. */
import { refusal } from '../errors/errors.ts'
import { networkOf } from '../request/network.ts'
import type { RequestContext } from '../types/request.ts'

/** Throws 429 where the client has as many as it may have. */
export function checkAddress({ app, ip }: RequestContext): void {
  const most = app.limits.maxSocketsPerAddress
  if (most > 0 && (app.addresses.get(clientOf(ip)) ?? 0) >= most) throw refusal('E_TOO_MANY_SOCKETS')
}

export function countAddress({ limits, addresses }: Counting, ip: string, by: 1 | -1): void {
  if (limits.maxSocketsPerAddress === 0) return
  const client = clientOf(ip)
  const count = (addresses.get(client) ?? 0) + by
  if (count > 0) addresses.set(client, count)
  else addresses.delete(client)
}

type Counting = Pick<RequestContext['app'], 'limits' | 'addresses'>

function clientOf(ip: string): string {
  return ip.includes(':') ? networkOf(ip) : ip
}
