/** A room whose visitors may be at any worker. The app says nothing of a bus. */
import { createApp } from 'volant'

const app = createApp()
app.ws('/room', {
  open(ws) {
    ws.subscribe('room')
    ws.send(`worker ${process.pid}`)
  },
  message: (_, text) => app.publish('room', text),
})
await app.listen(0, '127.0.0.1')
