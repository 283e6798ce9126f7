/** An app whose requests are counted, by itself and by the test that asks it. */
import { createApp, metrics } from 'volant'

const app = createApp()
const meter = metrics()
app.use(meter)
app.get('/metrics', meter.handler)
app.get('/counted', () => ({ pid: process.pid }))
app.get('/crash', () => {
  setImmediate(() => {
    throw new Error('on purpose')
  })
  return {}
})
await app.listen(0, '127.0.0.1')
