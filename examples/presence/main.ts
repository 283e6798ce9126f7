/** Rooms that show who is in them, on however many processes: `REDIS_URL=redis://localhost PORT=3001 npm start`. */
import { createClient } from 'redis'
import { createApp, HTTPError } from 'volant'
import { memoryBus } from 'volant/bus'
import { redisBus } from 'volant/redis'
import { Presence } from './presence.ts'

const heartbeat = Number(process.env.HEARTBEAT ?? 5_000)

// Without Redis this process is alone.
const client = process.env.REDIS_URL === undefined ? null : createClient({ url: process.env.REDIS_URL })
client?.connect().catch(() => {})
const bus = client === null ? memoryBus() : redisBus(client)

export const app = createApp({ bus })
app.onClose(() => client?.destroy())

const rooms = new Map<string, Presence>()

function roomOf(name: string): Presence {
  const known = rooms.get(name)
  if (known !== undefined) return known
  const room = new Presence(bus, `presence:${name}`, heartbeat, (members) => {
    // Each process tells its own clients.
    app.publish(`room:${name}`, JSON.stringify({ members }), { local: true })
  })
  rooms.set(name, room)
  return room
}

app.ws('/rooms/:room', {
  upgrade: (ctx) => {
    const { name } = ctx.query
    if (typeof name !== 'string' || name === '' || name.length > 40) throw new HTTPError(400, 'Give a ?name=')
    return { room: ctx.params.room, name }
  },
  open: (ws) => {
    const { room, name } = ws.data
    ws.subscribe(`room:${room}`)
    const presence = roomOf(room)
    presence.join(name)
    ws.json({ members: presence.members })
  },
  close: (ws) => {
    const { room, name } = ws.data
    const presence = roomOf(room)
    presence.leave(name)
    if (!presence.isEmpty) return
    presence.close()
    rooms.delete(room)
  },
})

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
