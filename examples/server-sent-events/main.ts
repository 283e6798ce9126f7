/** Messages reach every page that is open, and a page that was away gets those that it missed. */
import { createApp, encodeEvent, type EventStream } from 'volant'

interface Message {
  id: number
  text: string
}

export const app = createApp()

const messages: Message[] = []
export const streams = new Set<EventStream>()

app.get('/events', (ctx) => {
  const seen = Number(ctx.lastEventId ?? 0) // the id that the page saw last, if it connects again
  return ctx.sse((stream) => {
    for (const { id, text } of messages.slice(seen)) stream.send({ id, event: 'message', data: { text } })
    streams.add(stream)
    return () => void streams.delete(stream) // the page left, or the app closes
  })
})

app.post('/messages', (ctx) => {
  const message = { id: messages.length + 1, text: ctx.bodyText }
  messages.push(message)
  const event = encodeEvent({ id: message.id, event: 'message', data: { text: message.text } }) // written once for all
  for (const stream of streams) stream.send(event)
  return ctx.reply(201, message)
})

/** A generator is asked for the next event when the client has room for it, and ends when the client leaves. */
app.get('/countdown/:from', (ctx) => {
  if (ctx.lastEventId === '0') return ctx.reply(204) // it came to its end: 204 stops a page from connecting again
  return ctx.sse(countdown(Number(ctx.params.from)), { retry: 1_000 })
})

async function* countdown(from: number) {
  for (let left = from; left >= 0; left--) yield { id: left, data: left }
}

app.get('/', (ctx) =>
  ctx.html(`<!doctype html><meta charset="utf-8"><title>Messages</title>
<ul></ul>
<script>
  new EventSource('/events').onmessage = ({ data }) => {
    const item = document.createElement('li')
    item.textContent = JSON.parse(data).text
    document.querySelector('ul').append(item)
  }
</script>`),
)

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
