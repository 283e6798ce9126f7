/** The server of `lab slow-readers`: a small reply, and a stream of 100 MB. Its first argument is the adapter. */
import { createApp, type AdapterType } from 'volant'

const part = Buffer.alloc(65_536, 'x')
const parts = 1_600

const app = createApp({ adapter: { type: process.argv[2] as AdapterType }, signals: false })
app.get('/json', () => ({ message: 'Hello World' }))
app.get('/stream', () =>
  (function* () {
    for (let sent = 0; sent < parts; sent++) yield part
  })(),
)
const { port } = await app.listen({ port: 0, host: '127.0.0.1' })
process.on('disconnect', () => process.exit())
process.send?.(port)
