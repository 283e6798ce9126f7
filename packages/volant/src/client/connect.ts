/** `connect` opens the WebSockets of an API. A client that does not import it has none of their code. */
import type { Using } from './client.ts'
import { dialOf } from './dial.ts'
import { ClientSocket } from './socket.ts'
import type { ConnectOptions, SocketInput, SocketOperation } from './socket-types.ts'

/** What `connect` takes behind the operation. The input can be left out where no part of it is required. */
export type ConnectArguments<Input, Sent> = {} extends Input
  ? [input?: SocketInput<Input>, options?: ConnectOptions<NoInfer<Sent>>]
  : [input: SocketInput<Input>, options?: ConnectOptions<NoInfer<Sent>>]

/**
 * Opens a WebSocket of a client's API, and keeps it open:
 *
 *     const room = connect(client.chat, { params: { room: 'a' } })
 *     room.on('message', (message) => show(message))
 *     room.send({ text: 'hello' })
 *
 * It returns before there is a connection: messages wait for it. A refusal is an `error` event and a last `close`.
 * Throws `TypeError` for what is no operation of a client, for an option out of its bounds, and where the platform has no
 * WebSocket.
 */
export function connect<Input, Sent, Received>(
  operation: SocketOperation<Input, Sent, Received>,
  ...[input, options = {}]: ConnectArguments<Input, Sent>
): ClientSocket<Sent, Received> {
  const open: Using = (base, name, find, given, _, client) =>
    new ClientSocket(name, dialOf(base, name, find, given, options as ConnectOptions, client), options)
  const socket =
    typeof operation === 'function' && (operation as (input: unknown, using: Using) => unknown)(input, open)
  if (socket instanceof ClientSocket) return socket
  throw new TypeError('connect takes a WebSocket of a client: connect(client.chat, { params })')
}
