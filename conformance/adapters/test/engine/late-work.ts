/** Servers whose process may end: the argument says when. */
import { createApp } from 'volant'

const [scene] = process.argv.slice(2)
const app = createApp({ adapter: { type: 'native' }, signals: scene === 'signals' })
app.get('/quick', () => 'quick')
const closing = new Promise<void>((resolve) => app.onClosing(resolve))
app.get('/slow', async () => {
  console.log('dispatched')
  if (scene === 'unref-later') app.unref()
  else await closing
  // These timers alone would not keep the process alive: it would end at the first one.
  for (let round = 0; round < 50; round++) await new Promise((resolve) => setTimeout(resolve, 0).unref())
  return 'slow'
})
app.get('/close', () => {
  setImmediate(() => void app.close().then(() => console.log('closed')))
  return 'closing'
})
const { port } = await app.listen({ port: 0, host: '127.0.0.1' })
console.log(`port ${port}`)
if (scene === 'unref') app.unref()
