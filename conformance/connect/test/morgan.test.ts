/** morgan: its lines, of replies of every kind and of clients that left. */
import assert from 'node:assert/strict'
import { eventually } from '@volant/test-kit'
import { requestBytes } from '../src/client.ts'
import { type Handle, morgan } from '../src/layers.ts'
import { type Scenario, scenario, scenarios } from '../src/scenario.ts'
import type { Site } from '../src/site.ts'

/** A log, and the middleware that writes it. */
function logged(format: unknown, options: object = {}): { lines: string[]; layer: Handle } {
  const lines: string[] = []
  const stream = {
    write: (line: string) => void lines.push(line.replace(/^[^ ]*127\.0\.0\.1/, 'ME').trimEnd()),
  }
  return { lines, layer: morgan(format, { stream, ...options }) }
}

const tokens =
  ':method :url HTTP/:http-version :status :res[content-length] :res[content-type] :referrer :user-agent :remote-user :req[x-one]'

function routes(site: Site): void {
  site.reply('GET', '/text', () => ({ body: 'hello' }))
  site.reply('GET', '/empty', () => ({ status: 204, body: null }))
  site.reply('GET', '/stream', () => ({ headers: { 'content-type': 'text/plain' }, body: stream() }))
  site.handle('GET', '/connect', (_, res) => {
    res.setHeader('Content-Length', 7)
    res.end('connect')
  })
  site.handle('GET', '/chunks', (_, res) => {
    res.write('one')
    setImmediate(() => res.end('two'))
  })
  site.handle('GET', '/fails', () => {
    throw Object.assign(new Error('as it should'), { status: 418 })
  })
  site.handle('POST', '/text', (_, res) => res.writeHead(201, { 'x-a': 'b' }).end())
}

async function* stream(): AsyncGenerator<string> {
  yield 'one'
  yield 'two'
}

const asks: [string, string][] = [
  ['GET', '/text'],
  ['HEAD', '/text'],
  ['GET', '/text?a=1&b=%20'],
  ['GET', '/empty'],
  ['GET', '/stream'],
  ['GET', '/connect'],
  ['GET', '/chunks'],
  ['POST', '/text'],
]

function format(given: unknown, shown = given, options: object = {}): Scenario {
  return scenario({
    build(site) {
      const log = logged(given, options)
      site.use(log.layer)
      routes(site)
      return log
    },
    async play(client, { lines }) {
      for (const [at, [method, path]] of asks.entries()) {
        const headers = { referer: 'http://a/', 'user-agent': 'test', 'x-one': '1' }
        await client.ask(path, { method, headers })
        await eventually(() => lines.length > at, `a line of ${method} ${path}`)
      }
      assert.equal(lines.length, asks.length, String(shown))
      // Times and colours of times differ from run to run, and so does what a server adds to a type.
      return lines.map((line) => line.replace(/\[\d\d\/[^\]]+\]/, '[date]').replace(/\d+\.\d{3}/g, 'time'))
    },
  })
}

scenarios('morgan', {
  'with its tokens': format(tokens),
  tiny: format('tiny'),
  common: format('common'),
  combined: format('combined'),
  short: format('short'),
  dev: format('dev'),
  'at the request': format('short', 'short', { immediate: true }),
  'by a function': format((t: Record<string, (...given: unknown[]) => string>, req: unknown, res: unknown) =>
    [t['method']?.(req, res), t['url']?.(req, res), t['status']?.(req, res)].join(' '),
  ),

  'response time and total time': scenario({
    build(site) {
      const log = logged(':response-time :total-time')
      site.use(log.layer)
      routes(site)
      return log
    },
    async play(client, { lines }) {
      for (const path of ['/text', '/connect', '/stream']) await client.get(path)
      await eventually(() => lines.length === 3, 'three lines')
      for (const line of lines) assert.match(line, /^\d+\.\d{3} \d+\.\d{3}$/)
      return lines.length
    },
  }),

  'of errors and of requests that no route takes': scenario({
    build(site) {
      const log = logged(':method :url :status')
      site.use(log.layer)
      routes(site)
      return log
    },
    async play(client, { lines }) {
      await client.get('/fails')
      await client.get('/none?x=1')
      await eventually(() => lines.length === 2, 'two lines')
      assert.deepEqual(lines, ['GET /fails 418', 'GET /none?x=1 404'])
      return lines
    },
  }),

  'that skips': scenario({
    build(site) {
      const log = logged(':url :status', {
        skip: (_: unknown, res: { statusCode: number }) => res.statusCode < 400,
      })
      site.use(log.layer)
      routes(site)
      return log
    },
    async play(client, { lines }) {
      await client.get('/text')
      await client.get('/none')
      await eventually(() => lines.length > 0, 'a line')
      assert.deepEqual(lines, ['/none 404'])
      return lines
    },
  }),

  'of a client that left before the reply': scenario({
    memory: false,
    build(site) {
      const log = logged(':method :url :status :res[content-length] :response-time')
      let asked = 0
      site.use(log.layer)
      site.handle('GET', '/never', () => void asked++)
      site.reply('GET', '/never-own', async () => {
        asked++
        return new Promise<never>(() => {})
      })
      return { ...log, asked: () => asked }
    },
    async play(client, { lines, asked }) {
      for (const [at, path] of ['/never', '/never-own'].entries()) {
        const wire = await client.connect()
        wire.send(requestBytes('GET', path))
        await eventually(() => asked() > at, 'the request')
        wire.reset()
        await eventually(() => lines.length > at, `a line of ${path}`)
      }
      assert.deepEqual(lines, ['GET /never - - -', 'GET /never-own - - -'])
      return lines
    },
  }),

  'of a client that left during the reply': scenario({
    memory: false,
    build(site) {
      const log = logged(':method :url :status')
      site.use(log.layer)
      const part = Buffer.alloc(65_536, 'x')
      site.handle('GET', '/connect', (_, res) => {
        const more = (): void => {
          while (!res.destroyed && res.write(part));
          if (!res.destroyed) res.once('drain', more)
        }
        more()
      })
      site.reply('GET', '/own', () => ({ body: endless() }))
      async function* endless(): AsyncGenerator<Uint8Array> {
        for (;;) yield part
      }
      return log
    },
    async play(client, { lines }) {
      for (const [at, path] of ['/connect', '/own'].entries()) {
        const wire = await client.connect()
        wire.send(requestBytes('GET', path))
        await eventually(() => wire.received.length > 100_000, 'a part of the reply')
        wire.reset()
        await eventually(() => lines.length > at, `a line of ${path}`)
      }
      return lines
    },
  }),
})
