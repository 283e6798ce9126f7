/** A connection of a client that checks its replies: one request at a time, each with a nonce of its own. */
import { connect, type Socket } from 'node:net'
import { setImmediate as immediate } from 'node:timers/promises'

/** Longer than any handler and any stop, in ms: a reply that has not come then never does. */
export const usualPatience = 20_000

export class Connection {
  isOpen = true
  /** The last reply said that the connection closes. */
  closes = false
  /** The process that made the last reply, where it said so in `x-worker`. */
  worker: string | null = null
  /** The port of this end. */
  readonly port: number
  readonly #socket: Socket
  #received = ''
  /** No reply has come yet. */
  #isNew = true
  #error = ''
  #wake: () => void = () => {}

  private constructor(socket: Socket) {
    this.#socket = socket
    this.port = socket.localPort as number
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
  async ask(
    method: 'GET' | 'POST',
    nonce: number,
    split: boolean,
    patience: number = usualPatience,
  ): Promise<string | null> {
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
          return (
            (this.#error === '' ? 'the connection ended' : this.#error) +
            (this.#isNew ? ' without a first reply' : ' without a reply')
          )
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
    this.#isNew = false
    this.closes = /\r\nconnection: close/i.test(head)
    this.worker = /\r\nx-worker: (\S+)/i.exec(head)?.[1] ?? null
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
