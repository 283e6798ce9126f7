/** A child of `lab slow-readers`: COUNT connections to PORT, each of which reads 64 KiB of a stream in every second. */
import { connect, type Socket } from 'node:net'

const [port, count] = process.argv.slice(2).map(Number) as [number, number]
const share = 65_536
/** How often some of the clients read on, in ms. */
const step = 5

const readers: { socket: Socket; left: number }[] = []
process.on('disconnect', () => process.exit())
await Promise.all(
  Array.from({ length: count }, async () => {
    const socket = connect({ port, host: '127.0.0.1' })
    const reader = { socket, left: 0 }
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      reader.left -= bytes.length
      if (reader.left <= 0) socket.pause()
    })
    await new Promise((resolve) => socket.once('connect', resolve))
    socket.pause()
    socket.write('GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n')
    readers.push(reader)
  }),
)
let next = 0
setInterval(() => {
  for (let left = Math.ceil((count * step) / 1_000); left > 0; left--) {
    const reader = readers[next++ % count] as (typeof readers)[number]
    reader.left = share
    reader.socket.resume()
  }
}, step)
process.send?.('reading')
