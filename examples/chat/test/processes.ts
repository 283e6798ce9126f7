/** Processes of the chat, as `npm start` runs them, and members who talk to them. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { eventually, freePort } from '@volant/test-kit'
import { type ClientSocket, connect, createClient } from 'volant/client'
import { WebSocket } from 'ws'
import type { Api } from '../src/app.ts'
import type { FromPage, ToPage } from '../src/messages.ts'

export class Process {
  readonly port: number
  readonly redis: string
  readonly #isShared: boolean
  #child: ChildProcess | undefined

  private constructor(port: number, redis: string, isShared: boolean) {
    this.port = port
    this.redis = redis
    this.#isShared = isShared
  }

  /** Starts one at a port of its own, or at one that it shares with others. */
  static async start(redis = '', port?: number): Promise<Process> {
    const process = new Process(port ?? (await freePort()), redis, port !== undefined)
    await process.start()
    return process
  }

  get url(): string {
    return `http://localhost:${this.port}`
  }

  /** Starts it, also anew after its end, and waits until it listens. */
  async start(): Promise<void> {
    const env = {
      ...process.env,
      PORT: String(this.port),
      REDIS_URL: this.redis,
      REUSE_PORT: this.#isShared ? '1' : '',
      HEARTBEAT: '200',
    }
    const file = fileURLToPath(new URL('../src/server.js', import.meta.url))
    const child = spawn(process.execPath, [file], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    this.#child = child
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`the process ended with ${String(code)} before it listened`)
    })
    ended.catch(() => {})
    await Promise.race([once(createInterface(child.stdout!), 'line'), ended])
  }

  /** Ends it, and waits for its end. Gives its exit code; null where the signal ended it. */
  async end(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<number | null> {
    const child = this.#child
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return null
    const exit = once(child, 'exit')
    child.kill(signal)
    return (await exit)[0] as number | null
  }
}

/** Somebody with the cookie of a session, as a browser has it. */
export class Visitor {
  readonly client
  readonly origin: string
  cookie = ''

  constructor(origin: string) {
    this.origin = origin
    this.client = createClient<Api>(origin, {
      // A connection that is idle would stay for 5 s when the process is stopped.
      headers: () => ({ origin, cookie: this.cookie || undefined, connection: 'close' }),
      onResponse: (response) => {
        for (const each of response.headers.getSetCookie()) this.cookie = each.split(';')[0]!
      },
    })
  }

  async signIn(name: string, password = `the password of ${name}`): Promise<this> {
    const reply = await this.client.session.signIn({ body: { name, password } })
    if (!reply.ok) throw new Error(`${name} did not get in: ${reply.code}`)
    return this
  }

  enter(room: 'lobby' | 'kitchen' | 'garden'): Seat {
    const socket = connect(
      this.client.rooms.chat,
      { params: { room } },
      { WebSocket, maxQueuedMessages: 0, reconnect: { delay: 20, maxDelay: 100 } },
    )
    return new Seat(socket)
  }
}

type Socket = ClientSocket<FromPage, ToPage>

/** A WebSocket in a room, and what came over it. */
export class Seat {
  readonly socket: Socket
  readonly heard: ToPage[] = []
  readonly codes: number[] = []
  opened = 0

  constructor(socket: Socket) {
    this.socket = socket
    socket.on('open', () => this.opened++)
    socket.on('message', (message) => this.heard.push(message))
    socket.on('close', ({ code, opened }) => opened && this.codes.push(code))
    socket.on('error', () => {})
  }

  get texts(): string[] {
    return this.heard.flatMap((each) =>
      each.type === 'said' ? `${each.message.by}: ${each.message.text}` : [],
    )
  }

  get members(): string {
    return this.heard.flatMap((each) => (each.type === 'members' ? [each.names.join('+')] : [])).at(-1) ?? ''
  }

  say(text: string, key: string = crypto.randomUUID()): string {
    this.socket.send({ type: 'say', key, text })
    return key
  }

  async sees(members: string): Promise<this> {
    await eventually(() => this.members === members, `${members} are there, not ${this.members}`)
    return this
  }

  async hears(...texts: string[]): Promise<void> {
    await eventually(() => texts.every((text) => this.texts.includes(text)), `${texts.join(', ')} is heard`)
  }

  async leave(): Promise<void> {
    this.socket.close()
    await this.socket.closed
  }
}
