/** Joins a room of main.ts, of which it imports only the type. */
import { type ClientSocket, connect, createClient, type WebSocketClass } from 'volant/client'
import type { api } from './main.ts'

/** `WebSocket` is for Node.js 20, which has none of its own. */
export function join(url: string, room: string, token: () => string, WebSocket?: WebSocketClass) {
  const client = createClient<typeof api>(url)
  // The function runs for each attempt to connect, so that the token is a fresh one.
  return connect(client.chat, () => ({ params: { room }, query: { token: token() } }), { WebSocket })
}

type Room = ReturnType<typeof join>

/** Shows what is said, and whether there is a connection. */
export function show(room: Room, line: (text: string) => void): void {
  room.on('open', ({ reconnected }) => line(reconnected ? 'here again' : 'joined'))
  room.on('message', (message) => {
    // In the type, too, a date is what JSON makes of it.
    if (message.kind === 'said') line(`${message.by}: ${message.text} (${message.at.slice(0, 4)})`)
    else line(`${message.by} is typing`)
  })
  room.on('close', ({ code, final }) => line(final ? `left (${code})` : 'no connection, trying again'))
  room.on('dropped', (messages) => line(`${messages.length} not sent`))
  room.on('error', (error) => line(error.message))
}

/** The same as a loop, which ends when the socket is closed. */
export async function texts(room: ClientSocket<unknown, { kind: string; text?: string }>): Promise<string[]> {
  const all: string[] = []
  for await (const { text } of room) if (text !== undefined) all.push(text)
  return all
}
