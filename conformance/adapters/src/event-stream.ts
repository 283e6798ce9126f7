/** Streams of server-sent events, at the app and at their client. */
import type { App, EventStream } from 'volant'
import { type Live, request, turns } from './kit.ts'
import type { Wire } from './wire.ts'

/** Keeps the streams of `/e`. */
export function keeping(app: App, options = {}): EventStream[] {
  const streams: EventStream[] = []
  app.get('/e', (ctx) => ctx.sse((stream) => void streams.push(stream), options))
  return streams
}

/** Asks for a stream, and waits for the head of its reply. */
export async function open(live: Live, path = '/e', headers: Record<string, string> = {}): Promise<Wire> {
  const wire = (await live.connect()).send(request('GET', path, headers))
  await wire.until(() => (wire.received.includes('\r\n\r\n') ? true : undefined), 'the head')
  return wire
}

/** The content of the chunks that a stream has sent so far, without its head. */
export function sent(wire: Wire): string {
  const text = wire.received.toString('latin1')
  const at = text.indexOf('\r\n\r\n')
  if (at < 0) return ''
  return text.slice(at + 4).replaceAll(/(?:\r\n)?[0-9a-f]+\r\n/gi, '')
}

/** Waits until a stream has sent `text`. */
export async function has(wire: Wire, text: string): Promise<void> {
  await wire.until(() => (sent(wire).includes(text) ? true : undefined), JSON.stringify(text))
}

/** Sends until the client's system takes no more: then what is sent waits in the server. Gives how many events it were. */
export async function fill(stream: EventStream): Promise<number> {
  for (let count = 1; ; count++) {
    if (stream.send({ id: count, data: 'p'.repeat(50_000) })) {
      await turns(1)
      continue
    }
    let isDrained = false
    void stream.drained().then(() => {
      isDrained = true
    })
    // In each turn a server that can send does.
    for (let turn = 0; turn < 60 && !isDrained; turn++) await turns(1)
    if (!isDrained || stream.closed) return count
  }
}
