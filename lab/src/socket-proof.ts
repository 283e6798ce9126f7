/** Whether the WebSockets of a server do what the scenarios take for granted, asked by the client of the package ws. */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { WebSocket } from 'ws'
import { Failure } from './failure.ts'

/** For whatever is waited for, ms. */
const patience = 5_000

interface Message {
  readonly data: Buffer
  readonly isBinary: boolean
}

/** What is wrong with `/ws`, which sends each message back as it came, or with `/room`; null when all is right. */
export async function socketFault(port: number, path: string): Promise<string | null> {
  const open: Client[] = []
  const connect = async (to = path): Promise<Client> => {
    const client = await Client.connect(`ws://127.0.0.1:${port}${to}`)
    open.push(client)
    return client
  }
  try {
    await refuses(port)
    await (path === '/room' ? roomProof(connect) : echoProof(connect))
    return null
  } catch (error) {
    if (error instanceof Failure) return error.message
    throw error
  } finally {
    for (const client of open) client.end()
  }
}

async function echoProof(connect: () => Promise<Client>): Promise<void> {
  const client = await connect()
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, at) => at))
  const texts = ['a message', '', 'Größe ≠ 大きさ 😀', 'x'.repeat(125), 'x'.repeat(126), 'x'.repeat(70_000)]
  for (const message of [...texts, bytes, Buffer.alloc(0)]) {
    client.send(message)
    same(await client.next(), message, 'the echo')
  }
  await client.pong()
  await client.close()
}

/** Who sends to the room is heard by all others, and does not hear itself. */
async function roomProof(connect: () => Promise<Client>): Promise<void> {
  const members = [await connect(), await connect(), await connect(), await connect()]
  for (const [sender, message] of [
    [0, 'from the first, Größe'],
    [1, Buffer.from([0, 255, 128])],
    [0, 'once more'],
    [2, 'from the third'],
  ] as const) {
    members[sender]?.send(message)
    for (const [index, member] of members.entries()) {
      if (index !== sender) same(await member.next(), message, 'a message to the room')
    }
  }
  const left = members.find((member) => member.waiting > 0)
  if (left !== undefined) throw new Failure('a member of the room got a message of its own, or one twice')
  await members[3]?.close()
}

async function refuses(port: number): Promise<void> {
  const client = await Client.connect(`ws://127.0.0.1:${port}/${randomUUID()}`).catch(() => null)
  if (client === null) return
  client.end()
  throw new Failure('a WebSocket is opened on an unknown path: no router runs')
}

function same({ data, isBinary }: Message, sent: string | Buffer, what: string): void {
  const [type, other] = typeof sent === 'string' ? ['text', 'binary'] : ['binary', 'text']
  if (isBinary !== (type === 'binary')) throw new Failure(`${what} is ${other}, and ${type} was sent`)
  if (!data.equals(Buffer.from(sent)))
    throw new Failure(`${what} has ${data.length} bytes that are not the ${Buffer.byteLength(sent)} sent`)
}

class Client {
  readonly #socket: WebSocket
  readonly #messages: Message[] = []
  #wake: (() => void) | null = null

  static async connect(url: string): Promise<Client> {
    const socket = new WebSocket(url, { perMessageDeflate: true, handshakeTimeout: patience })
    const client = new Client(socket)
    await once(socket, 'open').catch((error: Error) => {
      throw new Failure(`${new URL(url).pathname} could not be opened: ${error.message}`)
    })
    if (socket.extensions !== '') {
      client.end()
      throw new Failure(`it agrees on ${socket.extensions}, where nothing is to be compressed`)
    }
    return client
  }

  constructor(socket: WebSocket) {
    this.#socket = socket
    socket.on('message', (data: Buffer, isBinary) => {
      this.#messages.push({ data, isBinary })
      this.#wake?.()
    })
    socket.on('error', () => undefined)
    socket.on('close', () => this.#wake?.())
  }

  get waiting(): number {
    return this.#messages.length
  }

  send(message: string | Buffer): void {
    this.#socket.send(message)
  }

  async next(): Promise<Message> {
    const deadline = performance.now() + patience
    while (this.#messages.length === 0) {
      if (this.#socket.readyState >= WebSocket.CLOSING)
        throw new Failure('it closes a socket instead of sending a message')
      if (performance.now() >= deadline) throw new Failure('a message did not come')
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, patience)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    return this.#messages.shift() as Message
  }

  async pong(): Promise<void> {
    const came = once(this.#socket, 'pong', { signal: AbortSignal.timeout(patience) })
    this.#socket.ping('are you there')
    const [payload] = (await came.catch(() => [null])) as [Buffer | null]
    if (payload?.toString() !== 'are you there') throw new Failure('a ping is not answered with its payload')
  }

  async close(): Promise<void> {
    const came = once(this.#socket, 'close', { signal: AbortSignal.timeout(patience) })
    this.#socket.close(1000, 'done')
    const [code] = (await came.catch(() => [null])) as [number | null]
    if (code !== 1000) throw new Failure(`a close with 1000 is answered with ${code ?? 'nothing'}`)
  }

  end(): void {
    this.#socket.terminate()
  }
}
