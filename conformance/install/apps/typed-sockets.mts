import { createApp } from 'volant'
import { busOver, type BusWire, memoryBus } from 'volant/bus'
import { type NatsBusConnection, natsBus } from 'volant/nats'
import { type RedisBusClient, redisBus } from 'volant/redis'
import { createSocketServer } from 'volant/ws'

export const buses = (redis: RedisBusClient, nats: NatsBusConnection, wire: BusWire) => [
  redisBus(redis, { nameSpace: 'shop' }),
  natsBus(nats, { maxWait: 1_000 }),
  busOver(wire),
]

const bus = memoryBus()
const app = createApp({ bus })
app.get('/hello/:name', (ctx) => ({ hello: ctx.params.name }))

export const chat = app.ws('/rooms/:room', {
  upgrade: (ctx) => ({ room: ctx.params.room }),
  open: (ws) => ws.subscribe(ws.data.room),
  message: (ws, message) => ws.publish(ws.data.room, `all: ${message}`, { self: true }),
})
// @ts-expect-error a topic has no schema, so a message is text or bytes
export const wrong = () => chat.publish('a', { text: 'hello' })

// What a room is told is written to the log by whoever listens to the bus.
bus.subscribe('lobby', { message: (_, data) => chat.publish('log', `bus: ${data}`, { local: true }) })
app.ws('/log', { open: (ws) => ws.subscribe('log') })

const sockets = createSocketServer<{ user: string }>()
sockets.on('connection', (socket, request) => {
  const { user } = sockets.dataOf(socket)
  socket.on('message', (data) => socket.send(`${user} at ${request.url}: ${data}`))
})
app.ws('/library', { ...sockets.hooks, upgrade: (ctx) => sockets.upgrade(ctx, { user: 'ada' }) })

void app.listen(0).then(({ url }) => console.log(`${app.adapterName} ${url}`))
