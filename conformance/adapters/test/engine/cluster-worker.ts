/** Listens on the port it is given and sends what became of it. */
import { createApp } from 'volant'

const app = createApp({ adapter: { type: 'native' }, signals: false })
try {
  await app.listen(Number(process.argv[2]), '127.0.0.1')
  process.send?.({ code: 'none', message: 'it listens' })
} catch (error) {
  const { code, message } = error as NodeJS.ErrnoException
  process.send?.({ code, message })
}
