/** Libraries that bring a protocol of their own run on `app.ws`: graphql-ws and tRPC, with their own clients. */
import type { Live } from '../../kit.ts'

/** Only a hang takes as long, in ms. */
export const patience = 60_000

export function socketUrl(live: Live, path: string): string {
  return `${live.address.url.replace('http', 'ws')}${path}`
}
