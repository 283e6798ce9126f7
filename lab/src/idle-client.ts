/** A child of `lab idle`: opens COUNT connections to PORT from ADDRESS, one request on each, and keeps them. */
import { connect } from 'node:net'

const [port, count, localAddress] = process.argv.slice(2)
/** At once, so that the accept queue (511 at most) never overflows. */
const opening = 100

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
    const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress: localAddress as string })
    let reply = ''
    const onData = (text: string) => {
      reply += text
      if (!reply.endsWith('}')) return
      socket.off('data', onData)
      socket.resume()
      open++
      resolve()
    }
    socket.setEncoding('latin1')
    socket.once('connect', () => socket.write('GET /json HTTP/1.1\r\nHost: localhost\r\n\r\n'))
    socket.on('data', onData)
    socket.on('error', reject)
    socket.on('close', () => {
      open--
      reject(new Error('the server closed a connection'))
    })
  })
}
