/** A message to a topic reaches the WebSockets of all workers, also of those that replace others. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { eventually, processExists, within } from '@volant/test-kit'
import { createApp } from 'volant'
import { WebSocket } from 'ws'
import { Started } from './workers/started.ts'

const skip = createApp({ signals: false }).adapterName !== 'native' && 'the native engine is not there'

/** A visitor of the room. */
class Visitor {
  readonly heard: string[] = []
  readonly #socket: WebSocket
  #worker = ''

  private constructor(socket: WebSocket) {
    this.#socket = socket
  }

  static async enter(url: string): Promise<Visitor> {
    const visitor = new Visitor(new WebSocket(`${url.replace('http', 'ws')}/room`))
    visitor.#socket.on('message', (data) => visitor.#hear(String(data)))
    await within(once(visitor.#socket, 'message'), 'the first message')
    return visitor
  }

  #hear(text: string): void {
    if (this.#worker === '') this.#worker = text
    else this.heard.push(text)
  }

  get worker(): string {
    return this.#worker
  }

  say(text: string): void {
    this.#socket.send(text)
  }

  async leave(): Promise<void> {
    this.#socket.close()
    if (this.#socket.readyState !== WebSocket.CLOSED) await once(this.#socket, 'close')
  }
}

/** Says whether the worker runs that gave this name. */
function runs(worker: string): boolean {
  return processExists(Number(worker.replace('worker ', '')))
}

test(
  'visitors of three workers hear each other, and so do those of the workers that replace them',
  { skip },
  async () => {
    const started = new Started('room', 3)
    try {
      const url = await started.url(started.child.stdout as NodeJS.ReadableStream)
      for (const round of ['before', 'after']) {
        const visitors = await Promise.all(Array.from({ length: 6 }, () => Visitor.enter(url)))
        assert.equal(
          new Set(visitors.map(({ worker }) => worker)).size,
          3,
          'the visitors are at three workers',
        )
        // A subscription that is on its way may miss what is said meanwhile.
        for (const speaker of [visitors[0], visitors[1], visitors[2]]) {
          const counts = visitors.map(({ heard }) => heard.length)
          await eventually(() => {
            speaker?.say('is anybody there?')
            return visitors.every(({ heard }, at) => heard.length > (counts[at] as number))
          }, 'somebody is there')
        }
        const said: string[] = []
        for (let count = 0; count < 30; count++) {
          const text = `${round} ${count}`
          said.push(text)
          visitors[count % visitors.length]?.say(text)
          // One after the other, so that there is one order.
          await eventually(
            () => visitors.every(({ heard }) => heard.includes(text)),
            `${text} is heard by all`,
          )
        }
        const news = (text: string): boolean => text.startsWith(round)
        for (const { heard } of visitors) assert.deepEqual(heard.filter(news), said)
        await Promise.all(visitors.map((visitor) => visitor.leave()))
        if (round === 'after') break
        const before = new Set(visitors.map(({ worker }) => worker))
        started.child.kill('SIGHUP')
        await eventually(() => ![...before].some(runs), 'the workers are replaced')
      }
    } finally {
      await started.stop()
    }
  },
)
