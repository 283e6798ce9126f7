/** A client of HTTP/2 that sends only frames: it acknowledges nothing, sends no WINDOW_UPDATE, and never ends. */
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { frame, headers, preface, settings, type, windowUpdate } from '@volant/test-kit/http2-frames'
import type { Address } from 'volant'

const largestWindow = 2 ** 31 - 1
const firstWindow = 65_535
/** The identifier of SETTINGS_INITIAL_WINDOW_SIZE (RFC 9113 §6.5.2). */
const initialWindow = 4

/** Opens a client whose windows are `window` bytes wide. It keeps its side open when the server ends. */
export async function openRaw({ port, url }: Address, window = largestWindow): Promise<Socket> {
  const tcp = connect({ port: port as number, host: '127.0.0.1', allowHalfOpen: true })
  const tls = { socket: tcp, rejectUnauthorized: false, ALPNProtocols: ['h2'], allowHalfOpen: true }
  const isSecure = url.startsWith('https:')
  const socket: Socket = isSecure ? connectTls(tls) : tcp
  await new Promise((resolve, reject) => {
    socket.once('error', reject)
    socket.once(isSecure ? 'secureConnect' : 'connect', resolve)
  })
  socket.on('error', () => {})
  socket.write(Buffer.concat([preface, settings([[initialWindow, window]])]))
  if (window > firstWindow) socket.write(windowUpdate(0, window - firstWindow))
  return socket
}

/** Writes a GET in one HEADERS frame. `path` must be shorter than 127 characters. */
export function getFrame(stream: number, path: string, encrypted: boolean): Buffer {
  // The bytes are `:method: GET` and `:scheme` of the static table, and literals with names of it (RFC 7541).
  const start = [0x82, encrypted ? 0x87 : 0x86, 0x04, path.length]
  const block = [Buffer.from(start), Buffer.from(path), Buffer.from([0x01, 1]), Buffer.from('a')]
  return headers(stream, Buffer.concat(block))
}

export function goawayFrame(): Buffer {
  return frame(type.goaway, 0, 0, Buffer.alloc(8))
}
