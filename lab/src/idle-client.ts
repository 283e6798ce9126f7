/**
 * A child of `lab idle`: opens COUNT connections to PORT from ADDRESS over http, https or h2, sends one request on
 * each, and keeps them.
 */
import { type Socket, connect } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { takeReply } from './reply-text.ts'
import { hello } from './scenarios/hello.ts'

const [port, count, localAddress, transport] = process.argv.slice(2)
/** At once, so that the accept queue (511 at most) never overflows. */
const opening = 100

/**
 * The preface, empty SETTINGS, and `GET /json` for localhost on stream 1, from the static table (RFC 7541 Appendix A).
 */
const http2Request =
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n' +
  '\0\0\0\x04\0\0\0\0\0' +
  '\0\0\x14\x01\x05\0\0\0\x01' +
  '\x82\x87\x04\x05/json\x01\x09localhost'
const acknowledgement = '\0\0\0\x04\x01\0\0\0\0'

let left = Number(count)
let open = 0
process.on('message', () => process.send?.(open))
// The parent left, or is done.
process.on('disconnect', () => process.exit())

try {
  await Promise.all(
    Array.from({ length: opening }, async () => {
      while (left-- > 0) await one()
    }),
  )
  process.send?.('ready')
} catch (error) {
  process.send?.(`failed: ${(error as Error).message}`)
}

function one(): Promise<void> {
  return new Promise((resolve, reject) => {
    const plain = connect({ port: Number(port), host: '127.0.0.1', localAddress: localAddress as string })
    const isSecure = transport !== 'http'
    const protocols = transport === 'h2' ? { ALPNProtocols: ['h2'] } : {}
    const socket = isSecure ? connectTls({ socket: plain, rejectUnauthorized: false, ...protocols }) : plain
    const isRight = transport === 'h2' ? byHttp2(socket) : byHttp1()
    let text = ''
    const onData = (part: string) => {
      text += part
      const verdict = isRight(text)
      if (verdict === null) return
      if (!verdict) return reject(new Error('a reply was not 200 with the right body'))
      socket.off('data', onData)
      socket.resume()
      open++
      resolve()
    }
    socket.setEncoding('latin1')
    socket.once(isSecure ? 'secureConnect' : 'connect', () =>
      socket.write(
        transport === 'h2' ? http2Request : 'GET /json HTTP/1.1\r\nHost: localhost\r\n\r\n',
        'latin1',
      ),
    )
    socket.on('data', onData)
    socket.on('error', reject)
    socket.on('close', () => {
      open--
      reject(new Error('the server closed a connection'))
    })
  })
}

/** Checks the received text; gives null while the reply is not complete. */
function byHttp1(): (text: string) => boolean | null {
  return (text) => takeReply(text, hello)?.isRight ?? null
}

/** Does the same for frames (RFC 9113 §4.1), and acknowledges SETTINGS. */
function byHttp2(socket: Socket): (text: string) => boolean | null {
  let at = 0
  let isOk = false
  let body = ''
  return (text) => {
    for (;;) {
      const head = Buffer.from(text.slice(at, at + 9), 'latin1')
      if (head.length < 9 || text.length < at + 9 + head.readUIntBE(0, 3)) return null
      const payload = text.slice(at + 9, at + 9 + head.readUIntBE(0, 3))
      const [kind, flags, stream] = [head.readUInt8(3), head.readUInt8(4), head.readUInt32BE(5)]
      at += 9 + payload.length
      if (kind === 4 && (flags & 1) === 0) socket.write(acknowledgement, 'latin1')
      if (stream !== 1) continue
      // `:status: 200` is one byte, behind updates of the table's size (RFC 7541 §6.3).
      if (kind === 1) isOk = /^[\x20-\x3f]*\x88/.test(payload)
      if (kind === 0) body += payload
      // The stream has ended with END_STREAM or a reset.
      if ((kind < 2 && (flags & 1) === 1) || kind === 3) return isOk && body === hello
    }
  }
}
