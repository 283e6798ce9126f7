/** A child of `lab sse`: opens COUNT streams of PATH at PORT, and checks that each gets its events, one after the other. */
import { get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Counts } from './sse.ts'

const [port, count, path] = process.argv.slice(2) as [string, string, string]
/** How many streams are opened at a time: a burst of all of them would overflow the queue of some servers. */
const burst = 50

const streams: { events: number }[] = []
let fault: string | null = null

/** Throws for an event that is not the one after `last`. Gives its number. */
function checkEvent(text: string, last: number | null): number {
  const lines = text.split('\n')
  const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)
  const id = Number(field('id'))
  const data = JSON.parse(field('data') ?? 'null') as { id?: unknown; symbol?: unknown } | null
  if (field('event') !== 'quote' || data?.id !== id || data.symbol !== 'ACME')
    throw new Error(`an event is ${JSON.stringify(text)}`)
  if (last !== null && id !== last + 1) throw new Error(`event ${id} came after event ${last}`)
  return id
}

function open(): Promise<void> {
  return new Promise((resolve) => {
    const stream = { events: 0 }
    let last: number | null = null
    let rest = ''
    const headers = { accept: 'text/event-stream' }
    get({ port: Number(port), host: '127.0.0.1', path, headers, agent: false }, (reply) => {
      if (reply.statusCode !== 200) fault ??= `status ${reply.statusCode}`
      reply.setEncoding('utf8')
      reply.on('error', () => (fault ??= 'a stream was cut off'))
      reply.on('end', () => (fault ??= 'a stream ended'))
      reply.on('data', (text: string) => {
        const parts = (rest + text).split('\n\n')
        rest = parts.pop() as string
        for (const part of parts) {
          // A comment, or a time.
          if (!part.includes('data: ')) continue
          try {
            last = checkEvent(part, last)
          } catch (error) {
            fault ??= (error as Error).message
          }
          if (stream.events++ === 0) resolve()
        }
      })
    }).on('error', (error) => {
      fault ??= error.message
      resolve()
    })
    streams.push(stream)
  })
}

function counts(): Counts {
  let events = 0
  let least = Infinity
  for (const stream of streams) {
    events += stream.events
    least = Math.min(least, stream.events)
  }
  return { events, least, fault }
}

process.on('disconnect', () => process.exit())
process.on('message', (what) => {
  if (what === 'count') process.send?.(counts())
  else void openAll()
})

async function openAll(): Promise<void> {
  for (let left = Number(count); left > 0; left -= burst) {
    await Promise.all(Array.from({ length: Math.min(burst, left) }, open))
    await sleep(1)
  }
  process.send?.(counts())
}
