/**
 * A strict reader of what a server sent on one connection (RFC 9112 §4, §5, §6). Anything a lenient client would overlook
 * is a fault: two lengths, a body where none may be, octets that belong to no reply.
 */
export interface Reply {
  readonly status: number
  /** Field values by lower-case name, repeated ones joined with `, `; one character an octet. */
  readonly headers: Readonly<Record<string, string>>
  /** One character an octet. */
  readonly body: string
  /** The body ends where the connection does. */
  readonly untilClose: boolean
  /** The trailer fields: lower-case name, value, lower-case name, value, …. */
  readonly trailers: readonly string[]
}

export interface Read {
  /** Complete replies in order, interim ones (1xx) left out. */
  readonly replies: readonly Reply[]
  /** How many 100 (Continue) came. */
  readonly interim: number
  /** Octets of an incomplete reply are waiting. */
  readonly partial: boolean
  readonly fault: string | null
}

const statusLine = /^HTTP\/1\.1 ([1-5][0-9][0-9]) [\t\x20-\x7e\x80-\xff]*$/
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
// oxlint-disable-next-line no-control-regex -- octets are what is checked
const fieldValue = /^[\t\x20-\x7e\x80-\xff]*$/

class Fault extends Error {}

/** Reads `text`; `isHead(n)` tells whether final reply `n` answers a HEAD, `closed` whether the server has sent its FIN. */
export function readReplies(text: string, isHead: (index: number) => boolean, closed: boolean): Read {
  const replies: Reply[] = []
  let interim = 0
  let at = 0
  try {
    while (at < text.length) {
      const end = text.indexOf('\r\n\r\n', at)
      if (end < 0) return { replies, interim, partial: true, fault: closed ? 'truncated reply head' : null }
      const { status, headers } = readHead(text.slice(at, end))
      const start = end + 4
      if (status < 200) {
        if (status !== 100) throw new Fault(`interim status ${status}`)
        if ('content-length' in headers || 'transfer-encoding' in headers)
          throw new Fault('an interim reply with framing fields')
        interim++
        at = start
        continue
      }
      const body = readBody(text, start, status, headers, isHead(replies.length), closed)
      if (body === null)
        return { replies, interim, partial: true, fault: closed ? 'truncated reply body' : null }
      const { text: content, untilClose, trailers = [] } = body
      replies.push({ status, headers, body: content, untilClose, trailers })
      at = body.end
    }
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return { replies, interim, partial: false, fault: error.message }
  }
  return { replies, interim, partial: false, fault: null }
}

function readHead(text: string): { status: number; headers: Record<string, string> } {
  const [first = '', ...lines] = text.split('\r\n')
  const match = statusLine.exec(first)
  if (match === null) throw new Fault(`status line ${JSON.stringify(first.slice(0, 80))}`)
  const headers: Record<string, string> = Object.create(null) as Record<string, string>
  for (const line of lines) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon)
    if (colon < 0 || !token.test(name)) throw new Fault(`field line ${JSON.stringify(line.slice(0, 80))}`)
    const value = line.slice(colon + 1).replace(/^[ \t]+|[ \t]+$/g, '')
    if (!fieldValue.test(value)) throw new Fault(`field value ${JSON.stringify(value.slice(0, 80))}`)
    const key = name.toLowerCase()
    const before = headers[key]
    if (before !== undefined && singular.has(key)) throw new Fault(`two ${key} fields`)
    headers[key] = before === undefined ? value : `${before}, ${value}`
  }
  return { status: Number(match[1]), headers }
}

const singular = new Set([
  'content-length',
  'transfer-encoding',
  'content-type',
  'date',
  'location',
  'connection',
])

function readBody(
  text: string,
  start: number,
  status: number,
  headers: Record<string, string>,
  head: boolean,
  closed: boolean,
): Body | null {
  const length = headers['content-length']
  const coding = headers['transfer-encoding']
  if (length !== undefined && coding !== undefined) throw new Fault('Content-Length beside Transfer-Encoding')
  if (length !== undefined && !/^(0|[1-9][0-9]*)$/.test(length)) throw new Fault(`Content-Length ${length}`)
  if (coding !== undefined && coding !== 'chunked') throw new Fault(`Transfer-Encoding ${coding}`)
  // RFC 9110 §8.6, RFC 9112 §6.1: neither field in a 204.
  if (status === 204 && (length !== undefined || coding !== undefined))
    throw new Fault('a 204 with framing fields')
  if (head || status === 204 || status === 304) return { text: '', end: start, untilClose: false }
  if (coding !== undefined) return readChunks(text, start)
  if (length !== undefined) {
    const end = start + Number(length)
    return end > text.length ? null : { text: text.slice(start, end), end, untilClose: false }
  }
  if (headers['connection'] !== 'close') throw new Fault('a body until close without Connection: close')
  return closed ? { text: text.slice(start), end: text.length, untilClose: true } : null
}

interface Body {
  text: string
  end: number
  untilClose: boolean
  trailers?: string[]
}

function readChunks(text: string, start: number): Body | null {
  let body = ''
  let at = start
  for (;;) {
    const line = text.indexOf('\r\n', at)
    if (line < 0) return null
    const size = text.slice(at, line)
    if (!/^[0-9a-fA-F]{1,8}$/.test(size)) throw new Fault(`chunk size ${JSON.stringify(size.slice(0, 40))}`)
    const data = line + 2
    const octets = Number.parseInt(size, 16)
    if (octets === 0) return readTrailers(text, data, body)
    if (text.length < data + octets + 2) return null
    if (text.slice(data + octets, data + octets + 2) !== '\r\n') throw new Fault('no CRLF after a chunk')
    at = data + octets + 2
    body += text.slice(data, data + octets)
  }
}

function readTrailers(text: string, start: number, body: string): Body | null {
  const trailers: string[] = []
  for (let at = start; ;) {
    const end = text.indexOf('\r\n', at)
    if (end < 0) return null
    if (end === at) return { text: body, end: end + 2, untilClose: false, trailers }
    const line = text.slice(at, end)
    const colon = line.indexOf(':')
    const name = line.slice(0, colon)
    const value = line.slice(colon + 1).replace(/^[ \t]+|[ \t]+$/g, '')
    if (colon < 0 || !token.test(name) || !fieldValue.test(value))
      throw new Fault(`trailer line ${JSON.stringify(line.slice(0, 80))}`)
    trailers.push(name.toLowerCase(), value)
    at = end + 2
  }
}
