/** Gives up the rights of root where it has them, and listens on port 80. Prints the error. */
import { createApp } from 'volant'

if (process.getuid?.() === 0) {
  process.setgroups?.([])
  process.setgid?.(65_534)
  process.setuid?.(65_534)
}
const app = createApp({ adapter: { type: 'native' }, signals: false })
try {
  await app.listen(80, '127.0.0.1')
  console.log('listening')
  await app.close()
} catch (error) {
  const { code, message } = error as NodeJS.ErrnoException
  console.log(`${code}: ${message}`)
}
