/**
 * Seeded mutation of the corpus (reliability S2): the same stream goes to our server and to a bare node:http server, and
 * ours must never see more requests than llhttp does, nor answer more than it saw.
 */
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

import { Random } from '@volant/test-kit'
import type { Case } from './case.ts'
import { Wire } from './client.ts'

/** Pieces that smuggling is made of; put in, or in place of something. */
const fragments = [
  '\r\n',
  '\n',
  '\r',
  '\r\n\r\n',
  '\n\n',
  '\0',
  ' ',
  '\t',
  '\x0b',
  '\xa0',
  ':',
  ',',
  ';',
  '0',
  '5',
  '+',
  '-',
  '0\r\n\r\n',
  '5\r\nhello\r\n',
  'Content-Length: 5\r\n',
  'Content-Length: 0\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Transfer-Encoding: identity\r\n',
  'Transfer-Encoding : chunked\r\n',
  ' chunked',
  'chunked',
  'Host: a\r\n',
  'Connection: close\r\n',
  'Connection: keep-alive\r\n',
  'Expect: 100-continue\r\n',
  'Upgrade: x\r\n',
  'GET /echo HTTP/1.1\r\nHost: a\r\n\r\n',
  'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello',
  'HTTP/1.0',
  'HTTP/1.1',
  'HTTP/1.2',
  'GET',
  'POST',
  'HEAD',
  ' /echo ',
  'ffffffffffffffff',
  '18446744073709551621',
]

/** One stream made from one or two streams of the corpus by up to four changes. */
export function mutate(random: Random, corpus: Corpus): string {
  let text = random.pick(random.below(4) === 0 ? corpus.refused : corpus.accepted)
  if (random.below(2) === 0) text += random.pick(corpus.accepted)
  for (let changes = 1 + random.below(4); changes > 0; changes--) {
    const at = random.below(text.length + 1)
    const length = random.below(8)
    switch (random.below(6)) {
      case 0:
        text = text.slice(0, at) + String.fromCharCode(random.below(256)) + text.slice(at + 1)
        break
      case 1:
        text = text.slice(0, at) + text.slice(at + 1 + length)
        break
      case 2:
        text = text.slice(0, at) + random.pick(fragments) + text.slice(at)
        break
      case 3:
        text = text.slice(0, at) + random.pick(fragments) + text.slice(at + length)
        break
      case 4:
        text = text.slice(0, at) + text.slice(at, at + 40) + text.slice(at)
        break
      default:
        text = exchangeLines(random, text)
    }
  }
  return text
}

function exchangeLines(random: Random, text: string): string {
  const lines = text.split('\r\n')
  const first = random.below(lines.length)
  const second = random.below(lines.length)
  const kept = lines[first] as string
  lines[first] = lines[second] as string
  lines[second] = kept
  return lines.join('\r\n')
}

/** Streams to start from: those that are answered and those that are refused. */
export interface Corpus {
  readonly accepted: readonly string[]
  readonly refused: readonly string[]
}

/** The streams of the cases that are short and have no pauses. */
export function corpusOf(cases: readonly Case[]): Corpus {
  const short = cases.filter((one) => one.steps.every((step) => 'bytes' in step || 'fin' in step))
  const texts = (list: readonly Case[]) =>
    list
      .map((one) => one.steps.map((step) => ('bytes' in step ? step.bytes : '')).join(''))
      .filter((text) => text.length > 0 && text.length <= 1024 && !hasHead(text))
  return {
    accepted: texts(short.filter((one) => one.expected.end !== 'closed')),
    refused: texts(short.filter((one) => one.expected.end === 'closed')),
  }
}

export interface Seen {
  /** The numbers of the requests that reached a handler and were answered. */
  readonly ours: readonly number[]
  /** Requests llhttp gave to node:http. */
  readonly theirs: number
  readonly fault: string | null
}

/** Bare node:http with its strict defaults; counts requests by the client's port. */
export class Reference {
  readonly #server: Server
  readonly #counts = new Map<number, number>()

  constructor() {
    this.#server = createServer((request, response) => {
      this.#count(request)
      request.resume()
      response.end('ok')
    })
    // Nothing behind it is a request, so its connection goes once the replies before it are out.
    this.#server.on('connect', (request, socket) => {
      this.#count(request)
      socket.on('error', () => socket.destroy())
      socket.resume().end()
    })
    // Counted as requests, as they are when no listener is set, but answered by our own count.
    this.#server.on('checkContinue', (request, response) => this.#server.emit('request', request, response))
    this.#server.on('checkExpectation', (request, response) =>
      this.#server.emit('request', request, response),
    )
  }

  listen(): Promise<number> {
    return new Promise((resolve) => {
      this.#server.listen(0, '127.0.0.1', () => resolve((this.#server.address() as AddressInfo).port))
    })
  }

  #count({ socket }: IncomingMessage): void {
    const port = socket.remotePort ?? 0
    this.#counts.set(port, (this.#counts.get(port) ?? 0) + 1)
  }

  take(port: number): number {
    const count = this.#counts.get(port) ?? 0
    this.#counts.delete(port)
    return count
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }
}

/** Sends `text` and a half-close to both servers and counts what each took for a request. */
export async function compare(
  text: string,
  port: number,
  reference: Reference,
  referencePort: number,
): Promise<Seen> {
  const [ours, theirs] = await Promise.all([exchange(text, port), exchange(text, referencePort)])
  const runs = ours.wire.read().replies.flatMap(({ headers }) => headers['x-run'] ?? [])
  return {
    ours: runs.map(Number),
    theirs: reference.take(theirs.port),
    fault: ours.wire.ended
      ? ours.wire.read().fault
      : 'the connection was not closed after the client’s half-close',
  }
}

/** A server that does not close a connection in this time, in ms, never does. */
const hang = 30_000

async function exchange(text: string, port: number): Promise<{ wire: Wire; port: number }> {
  // Bodies of replies to HEAD cannot be told from the outside here, so streams with HEAD are not sent (`hasHead`).
  const wire = await Wire.open({ port, carrier: 'tcp' }, () => false)
  const localPort = wire.localPort
  await wire.send(Buffer.from(text, 'latin1'))
  wire.finish()
  await wire.until(() => wire.ended, hang)
  wire.destroy()
  return { wire, port: localPort }
}

/** HEAD replies have no body, which a reader that does not know the requests cannot see. */
export function hasHead(text: string): boolean {
  return text.includes('HEAD')
}

export interface Finding {
  readonly text: string
  readonly seen: Seen
}

/**
 * Mutates and compares until `seconds` are over, `width` streams at once. Gives how many streams were sent, the
 * numbers of the requests that ours answered, and each stream in which it saw more or did not answer as it must.
 */
export async function search(
  corpus: Corpus,
  port: number,
  seed: number,
  /** Says whether to go on after so many streams. */
  goesOn: (streams: number) => boolean,
  width = 32,
): Promise<{ streams: number; answered: number[]; findings: Finding[] }> {
  const random = new Random(seed)
  const reference = new Reference()
  const referencePort = await reference.listen()
  const findings: Finding[] = []
  let streams = 0
  const answered: number[] = []
  const lane = async () => {
    while (goesOn(streams)) {
      const text = mutate(random, corpus)
      if (hasHead(text)) continue
      streams++
      const seen = await compare(text, port, reference, referencePort)
      answered.push(...seen.ours)
      if (seen.ours.length > seen.theirs || seen.fault !== null) findings.push({ text, seen })
    }
  }
  await Promise.all(Array.from({ length: width }, lane))
  reference.close()
  return { streams, answered, findings }
}
