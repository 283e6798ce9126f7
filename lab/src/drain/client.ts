/** Clients of `lab drain`: one request at a time on a connection that is kept, each with a nonce of its own. */
import { connect, type Socket } from 'node:net'
import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises'

/** Shared by all clients of a run. */
export class Load {
  /** Where clients connect; the next one where the first refuses. */
  readonly ports: readonly number[]
  stopped = false
  sent = 0
  posts = 0
  answered = 0
  /** How many requests failed, by kind. */
  readonly failed = new Map<string, number>()
  #next = 0

  constructor(ports: readonly number[]) {
    this.ports = ports
  }

  /** Gives a port for a new connection: each in turn. */
  turn(): number {
    return this.ports[this.#next++ % this.ports.length] as number
  }

  fail(kind: string): void {
    this.failed.set(kind, (this.failed.get(kind) ?? 0) + 1)
  }
}

/** Longer than any handler and any stop, in ms: a reply that has not come then never does. */
const patience = 20_000
/**
 * Half of the requests of a client follow the reply at once: most of what crosses a stop is of these. The most between
 * the others, in ms; one in `longEvery` pauses is up to `longPause`.
 */
const pause = 20
const longPause = 7_000
const longEvery = 500

/** Sends requests until the load is stopped. It obeys `Connection: close`, and never sends a request again. */
export async function visit(load: Load, random: () => number): Promise<void> {
  let connection: Connection | null = null
  while (!load.stopped) {
    connection ??= await Connection.open(load.turn())
    if (connection === null) {
      // Nothing was sent: the next port in turn is tried.
      await sleep(1)
      continue
    }
    await rest(load, random)
    // An end that has come while it rested is seen before the connection is used again.
    await immediate()
    if (!connection.isOpen) {
      connection = null
      continue
    }
    const isPost = random() < 0.5
    const nonce = ++load.sent
    if (isPost) load.posts++
    const method = isPost ? 'POST' : 'GET'
    const fault: string | null = await connection.ask(method, nonce, random() < 0.25)
    if (fault === null) load.answered++
    else load.fail(`${method}: ${fault}`)
    if (fault === null && !connection.closes) continue
    connection.close()
    connection = null
  }
  connection?.close()
}

async function rest(load: Load, random: () => number): Promise<void> {
  if (random() < 0.5) return
  const until = performance.now() + (random() < 1 / longEvery ? longPause : pause) * random()
  for (let left = 1; left > 0 && !load.stopped; left = until - performance.now())
    await sleep(Math.min(left, 100))
}

class Connection {
  isOpen = true
  /** The last reply said that the connection closes. */
  closes = false
  readonly #socket: Socket
  #received = ''
  #error = ''
  #wake: () => void = () => {}

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.setNoDelay(true).setEncoding('latin1')
    socket.on('data', (text: string) => {
      this.#received += text
      this.#wake()
    })
    const gone = () => {
      this.isOpen = false
      this.#wake()
    }
    socket.on('end', gone).on('close', gone)
    socket.on('error', (error: NodeJS.ErrnoException) => (this.#error = error.code ?? error.message))
  }

  /** Null where the connection is refused. */
  static open(port: number): Promise<Connection | null> {
    return new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1')
      socket.once('error', () => resolve(null))
      socket.once('connect', () => {
        socket.removeAllListeners('error')
        resolve(new Connection(socket))
      })
    })
  }

  /** Sends a request, `split` between head and body; gives what was wrong with its reply, or null. */
  async ask(method: 'GET' | 'POST', nonce: number, split: boolean): Promise<string | null> {
    const body = method === 'POST' ? `${nonce} `.repeat(30) : ''
    const length = body === '' ? '' : `Content-Type: text/plain\r\nContent-Length: ${body.length}\r\n`
    const head = `${method} /${nonce} HTTP/1.1\r\nHost: lab\r\n${length}\r\n`
    if (split && body !== '') {
      this.#socket.write(head, 'latin1')
      await immediate()
      this.#socket.write(body, 'latin1')
    } else this.#socket.write(head + body, 'latin1')
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(resolve, patience, 'late')
    })
    try {
      for (;;) {
        const outcome = this.#take(String(nonce))
        if (outcome !== undefined) return outcome
        if (!this.isOpen)
          return this.#error === ''
            ? 'the connection ended without a reply'
            : `${this.#error} without a reply`
        const more = new Promise<void>((resolve) => {
          this.#wake = resolve
        })
        if ((await Promise.race([more, late])) === 'late') return `no reply in ${patience / 1_000} s`
      }
    } finally {
      clearTimeout(timer)
    }
  }

  /** Takes a reply: null when it is right, undefined while it is not whole. */
  #take(nonce: string): string | null | undefined {
    const end = this.#received.indexOf('\r\n\r\n')
    if (end === -1) return undefined
    const head = this.#received.slice(0, end)
    const body = bodyOf(head, this.#received.slice(end + 4))
    if (body === undefined) return undefined
    this.#received = ''
    this.closes = /\r\nconnection: close/i.test(head)
    const status = head.slice(9, 12)
    if (status !== '200') return `status ${status}`
    return body === nonce ? null : 'a reply that is not its own'
  }

  close(): void {
    this.#socket.destroy()
  }
}

/** The whole of the body behind a head, with whatever follows it; undefined while it is not whole. */
function bodyOf(head: string, rest: string): string | undefined {
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1]
  if (length !== undefined) return rest.length >= Number(length) ? rest : undefined
  // nginx and node:http send short replies of unknown length in one chunk.
  const [, size = '', text = ''] = /^([0-9a-f]+)\r\n([^]*)\r\n0\r\n\r\n$/i.exec(rest) ?? []
  return text.length === Number.parseInt(size, 16) ? text : undefined
}
