/** Proof of equal work, before anything is measured. */
import { type IncomingHttpHeaders, get } from 'node:http'
import { connect } from 'node:net'
import { randomUUID } from 'node:crypto'
import { Failure } from './failure.ts'
import type { Entry } from './roster.ts'
import type { Exchange, Scenario } from './scenario.ts'

const limit = 2_000

interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/**
 * Checks the replies to the scenario's request and to its proofs, that another path is not found (so a router runs),
 * and that a batch of `depth` pipelined requests gets as many replies. Returns the bytes of one reply's head and body.
 * Throws a `Failure` that says what differs.
 */
export async function checkReplies(
  entry: Entry,
  scenario: Scenario,
  port: number,
  depth: number,
): Promise<number> {
  const wrong = (what: string): Failure => new Failure(`${entry.name} does other work: ${what}`)
  const { exchange, proofs } = scenario
  for (const each of [exchange, ...proofs]) {
    const fault = difference(await ask(port, each), each)
    if (fault !== null) throw wrong(fault)
  }
  if (exchange.unique !== undefined) {
    const [first, second] = [await ask(port, exchange), await ask(port, exchange)]
    if (first.headers[exchange.unique] === second.headers[exchange.unique])
      throw wrong(`two replies have the same ${exchange.unique}`)
  }
  if (!entry.answersAnything) {
    const missing = await ask(port, { path: `/${randomUUID()}`, status: 404 })
    if (missing.status !== 404) throw wrong(`an unknown path is answered with ${missing.status}`)
  }
  const batch = await pipeline(port, exchange, depth)
  const bodies = batch.split(exchange.body).length - 1
  const heads = batch.match(/HTTP\/1\.1 200 /g)?.length ?? 0
  if (bodies !== depth || heads !== depth) {
    throw wrong(`${depth} pipelined requests got ${heads} replies with ${bodies} bodies`)
  }
  return Math.round(batch.length / depth)
}

/** What is wrong with a reply, or null. */
function difference({ status, headers, body }: Reply, expected: Exchange): string | null {
  if (status !== expected.status) return `GET ${expected.path} is answered with ${status}`
  for (const [name, value] of Object.entries(expected.fields ?? {})) {
    const given = String(headers[name] ?? 'missing')
    if (!(name in headers) || !value.test(given)) return `${name} is ${given}`
  }
  if (expected.body === undefined) return null
  const type = headers['content-type'] ?? ''
  if (!/^application\/json\s*(;|$)/i.test(type)) return `content type is ${type || 'missing'}`
  return body === expected.body ? null : `the body is ${JSON.stringify(body.slice(0, 100))}`
}

function ask(port: number, { path, headers = {} }: Exchange): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path, headers, agent: false, timeout: limit }
    const request = get(options, (response) => {
      let body = ''
      response.setEncoding('latin1')
      response.on('data', (text: string) => (body += text))
      response.on('error', reject)
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body })
      })
    })
    request.on('timeout', () => request.destroy(new Failure(`no reply to GET ${path} within 2 s`)))
    request.on('error', reject)
  })
}

/** What comes back for `depth` requests sent at once, until all bodies are there and 20 ms pass without more. */
function pipeline(port: number, exchange: Scenario['exchange'], depth: number): Promise<string> {
  const { path, headers, body } = exchange
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    let received = ''
    let quiet: NodeJS.Timeout | undefined
    const finish = (): void => {
      clearTimeout(quiet)
      clearTimeout(timer)
      socket.destroy()
      resolve(received)
    }
    const timer = setTimeout(finish, limit)
    socket.setEncoding('latin1')
    socket.on('error', reject)
    socket.on('end', finish)
    socket.on('data', (text: string) => {
      received += text
      if (received.split(body).length <= depth) return
      clearTimeout(quiet)
      quiet = setTimeout(finish, 20)
    })
    const fields = Object.entries({ host: `127.0.0.1:${port}`, ...headers })
    const head = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')
    socket.write(`GET ${path} HTTP/1.1\r\n${head}\r\n`.repeat(depth))
  })
}
