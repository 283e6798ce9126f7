/** Proof of equal work, before anything is measured. */
import { get } from 'node:http'
import { connect } from 'node:net'
import { randomUUID } from 'node:crypto'
import { Failure } from './failure.ts'
import type { Entry } from './roster.ts'

const expected = '{"message":"Hello World"}'
const limit = 2_000

/**
 * Checks the reply to `GET /json` (status, content type, the bytes of the body), that another path is not found (so a
 * router runs), and that a batch of `depth` pipelined requests gets as many replies. Returns the bytes of one reply's
 * head and body. Throws a `Failure` that says what differs.
 */
export async function checkReplies(entry: Entry, port: number, depth: number): Promise<number> {
  const wrong = (what: string): Failure => new Failure(`${entry.name} does other work: ${what}`)
  const reply = await fetchOnce(port, '/json')
  if (reply.status !== 200) throw wrong(`GET /json is answered with ${reply.status}`)
  if (!/^application\/json\s*(;|$)/i.test(reply.type))
    throw wrong(`content type is ${reply.type || 'missing'}`)
  if (reply.body !== expected) throw wrong(`the body is ${JSON.stringify(reply.body.slice(0, 100))}`)
  if (!entry.answersAnything) {
    const missing = await fetchOnce(port, `/${randomUUID()}`)
    if (missing.status !== 404) throw wrong(`an unknown path is answered with ${missing.status}`)
  }
  const batch = await pipeline(port, depth)
  const bodies = batch.split(expected).length - 1
  const heads = batch.match(/HTTP\/1\.1 200 /g)?.length ?? 0
  if (bodies !== depth || heads !== depth) {
    throw wrong(`${depth} pipelined requests got ${heads} replies with ${bodies} bodies`)
  }
  return Math.round(batch.length / depth)
}

function fetchOnce(port: number, path: string): Promise<{ status: number; type: string; body: string }> {
  return new Promise((resolve, reject) => {
    const request = get({ host: '127.0.0.1', port, path, agent: false, timeout: limit }, (response) => {
      let body = ''
      response.setEncoding('latin1')
      response.on('data', (text: string) => (body += text))
      response.on('error', reject)
      response.on('end', () => {
        resolve({
          status: response.statusCode ?? 0,
          type: response.headers['content-type'] ?? '',
          body,
        })
      })
    })
    request.on('timeout', () => request.destroy(new Failure(`no reply to GET ${path} within 2 s`)))
    request.on('error', reject)
  })
}

/** What comes back for `depth` requests sent at once, until all bodies are there and 20 ms pass without more. */
function pipeline(port: number, depth: number): Promise<string> {
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
      if (received.split(expected).length <= depth) return
      clearTimeout(quiet)
      quiet = setTimeout(finish, 20)
    })
    socket.write(`GET /json HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`.repeat(depth))
  })
}
