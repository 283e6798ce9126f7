import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { connect as connectTls } from 'node:tls'

/**
 * The transport of the octets of a case. `tls` ends the client's side with close_notify and FIN, as clients do.
 * `tls, no FIN` ends it with close_notify alone, so that only the record tells the end.
 */
export type Carrier = 'tcp' | 'tls' | 'tls, no FIN'

/** Where a server listens, and the transport of its connections. */
export interface Target {
  readonly port: number
  readonly carrier: Carrier
}

export interface Carried {
  /** Carries the octets of the case. */
  readonly stream: Duplex
  /** The TCP connection below `stream`; without TLS both are the same. */
  readonly socket: Socket
}

/** Opens a connection to 127.0.0.1, and completes the handshake if it is over TLS. */
export async function carry({ port, carrier }: Target): Promise<Carried> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true })
  await once(socket, 'connect')
  if (carrier === 'tcp') return { stream: socket, socket }
  const below = carrier === 'tls' ? socket : withoutFin(socket)
  // The cases do not check who issued a certificate.
  const stream = connectTls({ socket: below, ALPNProtocols: ['http/1.1'], rejectUnauthorized: false })
  try {
    await once(stream, 'secureConnect')
  } catch (error) {
    socket.destroy()
    throw error
  }
  return { stream, socket }
}

/** Passes the bytes of the connection on, but keeps back the FIN. */
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
