/**
 * The way of a connection from HTTP to a WebSocket, and back where that is refused. node:http lets go of a connection that
 * asks for another protocol, and never takes it back by itself.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { nodeHttp } from '../errors/node-http.ts'

/** The most bytes behind the request that are kept. The client has to wait for the reply (RFC 6455 §4.1). */
const mostKept = 65_536

const state = Symbol('upgrade')

/**
 * Gives the class of the requests of a server that has WebSockets. node:http asks it whether it upgrades; of all requests
 * with Upgrade only those do that `decide` takes, and the others go on as they would without that field.
 */
export function requestsThatUpgrade(decide: (request: IncomingMessage) => boolean): typeof IncomingMessage {
  return class extends nodeHttp.IncomingMessage {
    [state]?: 'asked' | 'yes' | 'no' | undefined

    get upgrade(): boolean {
      if (this[state] === 'asked') this[state] = this.method === 'CONNECT' || decide(this) ? 'yes' : 'no'
      return this[state] === 'yes'
    }

    set upgrade(asked: boolean | null) {
      if (this[state] === undefined && asked === true) this[state] = 'asked'
    }
  }
}

/** A connection that node:http has let go of. */
export class NodeUpgrade {
  readonly socket: Socket
  readonly #server: Server
  #kept: Buffer[]
  #keptBytes: number
  readonly #onData = (bytes: Buffer) => this.#keep(bytes)
  readonly #onError = () => this.socket.destroy()
  #onDrain = () => {}

  constructor(server: Server, socket: Socket, head: Buffer) {
    this.#server = server
    this.socket = socket
    this.#kept = head.length === 0 ? [] : [head]
    this.#keptBytes = head.length
    // It is read meanwhile, or nobody would see that the client leaves.
    socket.on('data', this.#onData)
    socket.on('error', this.#onError)
  }

  #keep(bytes: Buffer): void {
    this.#kept.push(bytes)
    this.#keptBytes += bytes.length
    if (this.#keptBytes > mostKept) this.socket.pause()
  }

  /** Has the response of the request write to the connection, which goes on with HTTP behind a reply that lets it. */
  answerWith(response: ServerResponse, goesOn: () => boolean): void {
    const { socket } = this
    this.#onDrain = () => void response.emit('drain')
    socket.on('drain', this.#onDrain)
    response.assignSocket(socket)
    response.on('finish', () => {
      response.detachSocket(socket)
      if (goesOn()) this.#giveBack()
      else socket.destroySoon()
    })
  }

  #giveBack(): void {
    const { socket } = this
    if (socket.destroyed) return
    const head = this.takeOver(null)
    if (head.length > 0) socket.unshift(head)
    this.#server.emit('connection', socket)
    socket.resume()
  }

  /** Ends what this does with the connection, and gives the bytes that were received behind the request. */
  takeOver(response: ServerResponse | null): Buffer {
    const { socket } = this
    socket.pause()
    socket.off('data', this.#onData)
    socket.off('error', this.#onError)
    socket.off('drain', this.#onDrain)
    response?.detachSocket(socket)
    const head = Buffer.concat(this.#kept)
    this.#kept = []
    return head
  }
}
