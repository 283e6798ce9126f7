/** An app on the adapter `ADAPTER` with the limits `LIMITS`; over TLS if `CERT` and `KEY` name files. */
import { readFileSync } from 'node:fs'
import { createApp, type ListenOptions } from 'volant'
import { collectInNode, entered, large, message, obey } from './control.ts'

const { ADAPTER = 'native', LIMITS = '{}', CERT, KEY } = process.env
const app = createApp({
  adapter: { type: ADAPTER as 'native' },
  signals: false,
  limits: JSON.parse(LIMITS) as object,
})
app.get('/', () => {
  entered()
  return message
})
app.post('/', (ctx) => {
  entered()
  return { type: typeof ctx.body }
})
app.get('/large', () => {
  entered()
  return large
})
const tls = CERT !== undefined && KEY !== undefined && { cert: readFileSync(CERT), key: readFileSync(KEY) }
const options = { port: 0, host: '127.0.0.1', http2: true, ...(tls && { tls }) }
const { port } = await app.listen(options as ListenOptions)
obey(port as number, collectInNode)
