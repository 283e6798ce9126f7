import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { connect as connectTls } from 'node:tls'

/**
 * What carries the octets of a case. `tls` ends the client's side with close_notify and FIN, as clients do;
 * `tls, no FIN` with close_notify alone, so that nothing but the record says it.
 */
export type Carrier = 'tcp' | 'tls' | 'tls, no FIN'

/** Where a server listens, and how it is talked to. */
export interface Target {
  readonly port: number
  readonly carrier: Carrier
}

export interface Carried {
  /** Takes and gives the octets of the case. */
  readonly stream: Duplex
  /** The connection below it: the same over TCP. */
  readonly socket: Socket
}

/** A connection to 127.0.0.1, over TLS with its handshake done. */
export async function carry({ port, carrier }: Target): Promise<Carried> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true })
  await once(socket, 'connect')
  if (carrier === 'tcp') return { stream: socket, socket }
  const below = carrier === 'tls' ? socket : withoutFin(socket)
  // Who issued the certificate is not what the cases are about.
  const stream = connectTls({ socket: below, ALPNProtocols: ['http/1.1'], rejectUnauthorized: false })
  try {
    await once(stream, 'secureConnect')
  } catch (error) {
    socket.destroy()
    throw error
  }
  return { stream, socket }
}

/** The connection, but for its end, which is kept back. */
function withoutFin(socket: Socket): Duplex {
  const stream = new Duplex({
    read: () => void socket.resume(),
    write: (bytes, _encoding, done) => void socket.write(bytes, done),
    final: (done) => done(),
    destroy: (error, done) => {
      socket.destroy()
      done(error)
    },
  })
  socket.on('data', (bytes) => {
    if (!stream.push(bytes)) socket.pause()
  })
  socket.on('end', () => stream.push(null))
  socket.on('error', (error) => stream.destroy(error))
  socket.on('close', () => stream.destroy())
  return stream
}
