/** A client of HTTP/2 that sends only frames: it acknowledges nothing, sends no WINDOW_UPDATE, and never ends. */
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Address } from 'volant'

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1')
const [headers, reset, settings, goaway, windowUpdate] = [1, 3, 4, 7, 8]
const [endStream, endHeaders] = [1, 4]
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
  const setting = Buffer.alloc(6)
  setting.writeUInt16BE(initialWindow)
  setting.writeUInt32BE(window, 2)
  socket.write(Buffer.concat([preface, frame(settings, 0, 0, setting)]))
  if (window > firstWindow) socket.write(frame(windowUpdate, 0, 0, uint32(window - firstWindow)))
  return socket
}

/** Writes a GET in one HEADERS frame. `path` must be shorter than 127 characters. */
export function getFrame(stream: number, path: string, encrypted: boolean): Buffer {
  // The bytes are `:method: GET` and `:scheme` of the static table, and literals with names of it (RFC 7541).
  const start = [0x82, encrypted ? 0x87 : 0x86, 0x04, path.length]
  const block = [Buffer.from(start), Buffer.from(path), Buffer.from([0x01, 1]), Buffer.from('a')]
  return frame(headers, endStream | endHeaders, stream, Buffer.concat(block))
}

export function resetFrame(stream: number, code: number): Buffer {
  return frame(reset, 0, stream, uint32(code))
}

export function goawayFrame(): Buffer {
  return frame(goaway, 0, 0, Buffer.alloc(8))
}

function frame(type: number, flags: number, stream: number, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
