/** The rooms: what was said, who is there, and the WebSocket over which a page says something. */
import { Presence } from '@volant/example-presence'
import type { App, ServerWebSocket } from 'volant'
import type { Bus } from 'volant/bus'
import { z } from 'zod'
import type { Members } from './accounts.ts'
import { Allowance } from './allowance.ts'
import { FromPage, Message, Room, ToPage } from './messages.ts'
import type { Store } from './store.ts'

const params = z.object({ room: Room })
const topicOf = (room: Room): string => `room:${room}`

export function rooms(app: App, members: Members, store: Store, bus: Bus, heartbeat: number) {
  const presence = new Map<Room, Presence>()
  /** The WebSockets of this process by the session that let them in. */
  const open = new Map<string, Set<Pick<ServerWebSocket, 'close'>>>()

  const messages = members.get('/api/rooms/:room/messages', { params, response: z.array(Message) }, (ctx) =>
    store.last(ctx.params.room),
  )

  const chat = members.ws('/api/rooms/:room', {
    params,
    in: FromPage,
    out: ToPage,
    maxMessageSize: 16_384,
    upgrade: (ctx) => ({
      name: ctx.state.user,
      room: ctx.params.room,
      session: ctx.state.session.id,
      allowance: new Allowance(20, 2),
    }),
    async open(ws) {
      const { name, room, session } = ws.data
      ws.subscribe(topicOf(room))
      open.set(session, (open.get(session) ?? new Set()).add(ws))
      const here = presence.get(room)!
      here.join(name)
      ws.send({ type: 'members', names: here.members })
      // From now on the other processes are heard as well, so that what the page asks for leaves nothing out.
      await bus.ready(topicOf(room))
      ws.send({ type: 'catch up' })
    },
    async message(ws, message) {
      const { name, room, allowance } = ws.data
      if (message.type === 'ping') return ws.send({ type: 'pong' })
      const isAllowed = allowance.take()
      if (message.type === 'typing') return isAllowed && ws.publish(topicOf(room), { type: 'typing', name })
      const { key, text } = message
      if (!isAllowed) return ws.send({ type: 'refused', key, why: 'You write too fast' })
      try {
        const said = await store.keep(room, { key, by: name, text, at: Date.now() })
        // Whoever sends a message twice has missed the first answer.
        if (said === null) return ws.send({ type: 'catch up' })
        ws.publish(topicOf(room), { type: 'said', message: said }, { self: true })
      } catch (error) {
        app.log.error({ err: error }, 'a message was not kept')
        ws.send({ type: 'refused', key, why: 'The server could not keep it' })
      }
    },
    close(ws) {
      const { name, room, session } = ws.data
      presence.get(room)!.leave(name)
      const others = open.get(session)
      if (others?.delete(ws) && others.size === 0) open.delete(session)
    },
  })

  for (const room of Room.options) {
    // Each process tells its own pages.
    const tell = (names: string[]) => chat.publish(topicOf(room), { type: 'members', names }, { local: true })
    presence.set(room, new Presence(bus, `presence:${room}`, heartbeat, tell))
  }
  // A WebSocket does not end with its session by itself. The bus tells this process, too.
  const ended = 'sessions that ended'
  bus.subscribe(ended, {
    message: (_, session) => open.get(String(session))?.forEach((ws) => ws.close(4401, 'Signed out')),
  })
  app.onGap(({ topic }) => chat.publish(topic, { type: 'catch up' }, { local: true }))
  app.onClose(() => presence.forEach((each) => each.close()))

  return { messages, chat, signedOut: (session: string) => bus.publish(ended, session) }
}
