/** Each of the seventeen middlewares: GET, HEAD, 10 MB, a client that reads slowly, and one that leaves at each step. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { eventually, unchanging } from '@volant/test-kit'
import { type Client, requestBytes, type Seen } from './client.ts'
import type { Next, Req, Res } from './layers.ts'
import { scenario, scenarios } from './scenario.ts'
import { big, type Installed, seventeen } from './seventeen.ts'
import type { Site } from './site.ts'

interface Made extends Installed {
  /** The requests that a layer in front of the middleware holds. */
  held: (() => void)[]
  /** The bytes that the endless source was asked for, and whether it was told that nobody reads any more. */
  source: { bytes: number; ended: number }
  /** The requests that were seen. */
  asked: string[]
  /** The replies whose `close` was heard. */
  closed: string[]
  /** The files that were open before. */
  files: number
}

/** Linux shows them; elsewhere none are counted. */
const openFiles = (): number => (existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : 0)

async function build(site: Site, name: string): Promise<Made> {
  const made: Made = { held: [], source: { bytes: 0, ended: 0 }, asked: [], closed: [], files: openFiles() }
  site.use((req: Req, res: Res, next: Next) => {
    const { url = '' } = req
    made.asked.push(url)
    res.on('close', () => made.closed.push(url))
    if (req.headers['x-hold'] === undefined) next()
    else made.held.push(next)
  })
  const installed = await seventeen[name]?.(site)
  site.reply('GET', '/small', () => ({ headers: { 'content-type': 'text/plain' }, body: 'small' }))
  site.reply('GET', '/big', () => ({ headers: { 'content-type': 'text/plain' }, body: big }))
  site.handle('GET', '/connect', (_, res) => res.end('small'))
  site.handle('GET', '/connect-big', (_, res) => {
    res.setHeader('Content-Type', 'text/plain')
    res.end(big)
  })
  site.reply('GET', '/endless', () => ({ headers: { 'content-type': 'text/plain' }, body: endless(made) }))
  site.streamed('POST', '/body', (req, res) => {
    let size = 0
    // A layer in front may have read the body.
    if (req.readableEnded) return void res.end('read')
    req.on('data', (part: Buffer) => (size += part.length))
    req.on('end', () => res.end(String(size)))
  })
  return { ...made, ...installed }
}

async function* endless({ source }: Made): AsyncGenerator<Uint8Array> {
  try {
    for (let at = 0; ; at = (at + 65_536) % big.length) {
      source.bytes += 65_536
      yield big.subarray(at, at + 65_536)
    }
  } finally {
    source.ended++
  }
}

function whole(reply: Seen): Buffer {
  return reply.headers['content-encoding'] === 'gzip' ? gunzipSync(reply.body) : reply.body
}

/** Without the lengths that follow from how zlib was fed. */
function fields({ headers, cookies }: Seen): unknown {
  const { 'content-length': _, date: _date, ...rest } = headers
  return [rest, cookies]
}

async function replies(client: Client, { small = '/small', big: large = '/big' }: Made): Promise<unknown> {
  const headers = { 'accept-encoding': 'gzip', origin: 'https://a.example', cookie: 'a=b' }
  const out: unknown[] = []
  for (const path of new Set([small, '/small', '/connect'])) {
    for (const method of ['GET', 'HEAD']) {
      const reply = await client.ask(path, { method, headers })
      assert.equal(reply.status, 200, path)
      out.push([method, path, fields(reply), whole(reply).toString()])
    }
  }
  for (const path of new Set([large, '/big', '/connect-big'])) {
    const reply = await client.large(path, { headers })
    assert.ok(whole(reply).equals(big), path)
    out.push([path, fields(reply)])
  }
  const type = 'application/octet-stream'
  const body = await client.large('/body', {
    method: 'POST',
    headers: { ...headers, 'content-type': type },
    body: big,
  })
  return [out, body.status, body.text]
}

async function slowReader(client: Client, made: Made): Promise<void> {
  const reply = await client.large(made.big ?? '/big', { slow: true })
  assert.ok(reply.body.equals(big))
  // A source is asked for no more than what the sockets on the way take.
  const wire = await client.connect()
  wire.socket.pause()
  wire.send(requestBytes('GET', '/endless', { 'accept-encoding': 'gzip' }))
  await unchanging(() => made.source.bytes, 'the source waits')
  assert.ok(made.source.bytes < 64 * 1024 * 1024, `${made.source.bytes} bytes`)
  wire.reset()
  await eventually(() => made.source.ended === 1, 'the source is told')
}

async function leave(client: Client, made: Made): Promise<void> {
  // Before the middleware runs.
  const before = await client.connect()
  before.send(requestBytes('GET', made.small ?? '/small', { 'x-hold': '1' }))
  await eventually(() => made.held.length === 1, 'the request')
  before.reset()
  await eventually(() => made.closed.includes(made.small ?? '/small'), 'the layer hears of it')
  made.held[0]?.()
  // Within the body of the request.
  const during = await client.connect()
  during.send(
    requestBytes('POST', '/body', { 'content-type': 'application/json', 'content-length': '1000' }, '{"a":'),
  )
  await eventually(() => made.asked.includes('/body'), 'the request')
  during.reset()
  // Within the reply.
  const ended = made.source.ended
  const reading = await client.connect()
  reading.send(requestBytes('GET', '/endless', { 'accept-encoding': 'gzip' }))
  await eventually(() => reading.received.length > 100_000, 'a part of the reply')
  reading.reset()
  await eventually(
    () => made.source.ended === ended + 1 && made.closed.includes('/endless'),
    'the source is told',
  )
  const file = await client.connect()
  file.send(requestBytes('GET', made.big ?? '/connect-big'))
  await eventually(() => file.received.length > 100_000, 'a part of the reply')
  file.reset()
  // The server answers, and nothing of those requests is left.
  assert.equal((await client.get('/small')).text, 'small')
}

/** Registers the cases of these middlewares. They wait more than they compute, so two files have a half each. */
export function each(names: readonly string[]): void {
  for (const name of names) cases(name)
}

function cases(name: string): void {
  scenarios(name, {
    'GET, HEAD and 10 MB': scenario({
      memory: false,
      build: (site) => build(site, name),
      after: (made) => made.stop?.(),
      play: (client, made) => replies(client, made),
    }),
    'a client that reads slowly, and clients that leave': scenario({
      memory: false,
      reports: true,
      build: (site) => build(site, name),
      async after(made) {
        await made.stop?.()
        await eventually(() => openFiles() <= made.files, 'the files are closed')
      },
      async play(client, made) {
        await slowReader(client, made)
        await leave(client, made)
      },
    }),
  })
}
