/** A chat with rooms: who has a name may enter, and everybody in a room gets what is said there. */
import { before, createApp, HTTPError } from 'volant'
import * as z from 'zod'

const FromClient = z.object({ text: z.string().min(1).max(500) })
const ToClient = z.object({ from: z.string(), text: z.string() })

export const app = createApp()

const named = before<{ name: string }>((ctx) => {
  const name = ctx.cookies['name']
  if (name === undefined) throw new HTTPError(401, 'Say who you are: POST /name')
  ctx.state.name = name
})

app.post('/name', { body: z.object({ name: z.string().min(1).max(20) }) }, (ctx) => {
  ctx.cookie('name', ctx.body.name).status(204)
})

export const chat = app.with(named).ws('/rooms/:room', {
  in: FromClient,
  out: ToClient,
  upgrade: (ctx) => ({ name: ctx.state.name, room: `room/${ctx.params.room}` }), // becomes ws.data
  open(ws) {
    ws.subscribe(ws.data.room)
    ws.publish(ws.data.room, { from: ws.data.name, text: 'is here' }, { self: true })
  },
  message(ws, { text }) {
    ws.publish(ws.data.room, { from: ws.data.name, text }, { self: true })
  },
  close(ws) {
    ws.publish(ws.data.room, { from: ws.data.name, text: 'has left' })
  },
})

/** Other code of the app may publish as well. */
app.post('/rooms/:room/announcements', (ctx) => {
  chat.publish(`room/${ctx.params.room}`, { from: 'the server', text: ctx.bodyText })
  return ctx.reply(202)
})

app.get('/', (ctx) =>
  ctx.html(`<!doctype html><meta charset="utf-8"><title>Chat</title>
<form><input placeholder="Say something" autofocus></form><ul></ul>
<script type="module">
  const name = prompt('Your name?') || 'nobody'
  await fetch('/name', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ name }) })
  const socket = new WebSocket('/rooms/lobby')
  socket.onmessage = ({ data }) => {
    const { from, text } = JSON.parse(data)
    document.querySelector('ul').append(Object.assign(document.createElement('li'), { textContent: from + ': ' + text }))
  }
  document.querySelector('form').onsubmit = (event) => {
    event.preventDefault()
    const input = event.target[0]
    socket.send(JSON.stringify({ text: input.value }))
    input.value = ''
  }
</script>`),
)

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
