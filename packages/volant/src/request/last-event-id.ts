/** Reads the id of the last event that a client of server-sent events saw. */
import type { Exchange } from '@volant/engine'

/** Gives Last-Event-ID, which browsers send in UTF-8 (WHATWG HTML §9.2.3); undefined without it, and where it is empty. */
export function lastEventIdOf(exchange: Exchange): string | undefined {
  const id = exchange.header('last-event-id')
  return id === undefined || id === '' ? undefined : Buffer.from(id, 'latin1').toString()
}
