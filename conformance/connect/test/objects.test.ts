/** `req` and `res` themselves: what middlewares see of them before, during and after a reply. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { IncomingMessage, ServerResponse } from 'node:http'
import { finished, PassThrough, pipeline, Readable, Transform } from 'node:stream'
import { text } from 'node:stream/consumers'
import { finished as finishedLater, pipeline as pipelineLater } from 'node:stream/promises'
import { eventually } from '@volant/test-kit'
import { requestBytes } from '../src/client.ts'
import type { Handle, Next, Req, Res } from '../src/layers.ts'
import { scenario, type Scenario, scenarios } from '../src/scenario.ts'

const long = Buffer.alloc(3_000_000, 'some text ')

/** A handler whose reply tells what it saw. */
function told(
  look: (req: Req, res: Res) => unknown,
  ask: { headers?: Record<string, string>; method?: string } = {},
): Scenario {
  return scenario({
    build(site) {
      site.handle('GET', '/path', (req, res) => res.end(JSON.stringify(look(req, res) ?? null)))
    },
    async play(client) {
      const reply = await client.ask('/path?a=1&b=%20c', ask)
      assert.equal(reply.status, 200)
      return [JSON.parse(reply.text), reply.headers]
    },
  })
}

/** A handler that replies, and tells what happened by a list. */
function listed(
  run: (log: unknown[], req: Req, res: Res, next: Next) => unknown,
  wanted: number,
  body?: string | Buffer,
): Scenario {
  return scenario({
    memory: false,
    build(site) {
      const log: unknown[] = []
      site.streamed('POST', '/path', (req, res, next) => run(log, req, res, next))
      return log
    },
    async play(client, log) {
      const reply = await client.large('/path', { method: 'POST', body: body ?? 'a body' })
      await eventually(() => log.length >= wanted, `${wanted} entries of ${JSON.stringify(log)}`)
      return [log, reply.status, reply.headers['content-type'] ?? null, reply.body]
    },
  })
}

const state = (res: Res): unknown => [
  res.headersSent,
  res.writableEnded,
  res.finished,
  res.statusCode,
  res.writable,
  res.destroyed,
  typeof res['_header'],
]

scenarios('req', {
  'its classes and what it is made of': told(
    (req, res) => [
      req instanceof IncomingMessage,
      res instanceof ServerResponse,
      req instanceof Readable,
      [req.method, req.url, req.httpVersion, req.httpVersionMajor, req.httpVersionMinor],
      [
        req.headers['x-one'],
        req.headers.host,
        req.headers['none'] ?? null,
        Object.getPrototypeOf(req.headers) === Object.prototype,
      ],
      [
        // uWebSockets.js gives names in lower case.
        req.rawHeaders[req.rawHeaders.findIndex((name) => name.toLowerCase() === 'x-one') + 1],
        req.headersDistinct['x-one'],
      ],
      [req.trailers, req.rawTrailers, req.readable, req.destroyed, req.aborted],
      [
        typeof req.socket.remoteAddress,
        req.socket.remoteFamily,
        req.socket.destroyed,
        req.socket.readable,
        req.connection === req.socket,
      ],
      [res.req === req, 'body' in req, 'session' in req, 'user' in req, 'cookies' in req],
    ],
    { headers: { 'X-One': 'one' } },
  ),
  'read by data': listed((log, req, res) => {
    req.setEncoding('utf8')
    req.on('data', (part: string) => log.push(part))
    req.on('end', () => {
      log.push('end', req.complete, req.readableEnded)
      res.end('done')
    })
  }, 4),
  'read by readable': listed((log, req, res) => {
    let all = ''
    req.on('readable', () => {
      for (let part = req.read(); part !== null; part = req.read()) all += String(part)
    })
    req.on('end', () => {
      log.push(all)
      res.end('done')
    })
  }, 1),
  'read as an iterable': listed(
    async (log, req, res) => {
      let size = 0
      for await (const part of req) size += (part as Buffer).length
      log.push(size, req.complete)
      res.end('done')
    },
    2,
    long,
  ),
  'read by consumers': listed(
    async (log, req, res) => {
      log.push((await text(req)).length)
      res.end('done')
    },
    1,
    long,
  ),
  'paused and resumed': listed(
    (log, req, res) => {
      let size = 0
      req.on('data', (part: Buffer) => {
        size += part.length
        req.pause()
        setImmediate(() => req.resume())
      })
      req.on('end', () => {
        log.push(size)
        res.end('done')
      })
    },
    1,
    long,
  ),
  'piped through a transform into the reply': listed(
    (log, req, res) => {
      const upper = new Transform({
        transform: (part: Buffer, _, done) => done(null, part.toString('latin1').toUpperCase()),
      })
      res.setHeader('Content-Type', 'text/plain')
      req.pipe(upper).pipe(res)
      res.on('finish', () => log.push('finish'))
    },
    1,
    long,
  ),
  'piped into the reply': listed(
    (log, req, res) => {
      pipeline(req, res, (error) => log.push(error?.message ?? 'done'))
    },
    1,
    long,
  ),
  'piped late': listed(
    (log, req, res) => {
      setTimeout(() => {
        log.push(req.readable)
        req.pipe(createHash('sha1').setEncoding('hex')).on('data', (hash: string) => res.end(hash))
      }, 5)
    },
    1,
    long,
  ),
  'unpiped and piped again': listed(
    (log, req, res) => {
      const one = new PassThrough()
      let size = 0
      one.once('data', (part: Buffer) => {
        size += part.length
        req.unpipe(one)
        const two = new PassThrough()
        one.on('data', (rest: Buffer) => (size += rest.length))
        two.on('data', (rest: Buffer) => (size += rest.length))
        two.on('end', () => {
          log.push(size)
          res.end('done')
        })
        req.pipe(two)
      })
      req.pipe(one)
    },
    1,
    long,
  ),
  'not read at all': listed((log, _req, res) => {
    res.end('done')
    log.push('replied')
  }, 1),
  'dropped by resume': listed(
    (log, req, res) => {
      req.resume()
      req.on('end', () => {
        log.push('end')
        res.end('done')
      })
    },
    1,
    long,
  ),
  'with an end that comes after the reply': listed((log, req, res) => {
    res.end('early')
    req.resume()
    res.on('close', () => log.push('close'))
  }, 1),
})

scenarios('res', {
  'its headers': told((_, res) => {
    res.setHeader('X-One', 'a')
    res.setHeader('x-two', ['b', 'c'])
    res.setHeader('X-Three', 3)
    res.appendHeader('X-One', 'd')
    res.setHeader('X-Gone', 'x')
    res.removeHeader('x-gone')
    return [
      [
        res.getHeader('x-one'),
        res.getHeader('X-TWO'),
        res.getHeader('x-three'),
        res.getHeader('x-gone') ?? null,
      ],
      [res.hasHeader('X-Two'), res.hasHeader('x-gone')],
      [res.getHeaderNames(), res.getHeaders(), res.getRawHeaderNames()],
      state(res),
    ]
  }),
  'its methods in a chain': told((_, res) => [
    res.setHeader('a', 'b') === res,
    res.appendHeader('a', 'c') === res,
    res.setTimeout(1000) === res,
    res.on('x', () => {}) === res,
  ]),
  'states of a whole reply': listed((log, _, res) => {
    log.push(state(res))
    res.on('finish', () => log.push('finish', state(res), res.writableFinished))
    res.on('close', () => log.push('close', state(res), res.closed))
    res.end('body')
    log.push(state(res))
  }, 8),
  'states of a reply in parts': listed((log, _, res) => {
    res.writeHead(201, 'Made', { 'Content-Type': 'text/x', 'X-Two': ['a', 'b'] })
    log.push(state(res))
    res.on('finish', () => log.push('finish'))
    res.write('one ', () => log.push('written'))
    res.write(Buffer.from('two '))
    res.write('746872656520', 'hex')
    setImmediate(() => {
      log.push(state(res))
      res.end('four', 'latin1')
    })
  }, 4),
  'writeHead with a list of headers': told((_, res) => {
    res.writeHead(200, ['X-One', 'a', 'X-Two', 'b'])
    // What writeHead is given can be read here; node:http forgets it.
    return res.headersSent
  }),
  'writeHead over setHeader': told((_, res) => {
    res.setHeader('X-One', 'a')
    res.setHeader('X-Two', 'b')
    res.writeHead(200, { 'x-one': 'c' })
    return res.headersSent
  }),
  flushHeaders: listed((log, _, res) => {
    res.setHeader('Content-Type', 'text/x')
    res.flushHeaders()
    log.push(res.headersSent)
    setImmediate(() => res.end('later'))
  }, 1),
  'cork and uncork': listed((log, _, res) => {
    res.cork()
    res.write('one ')
    res.write('two')
    res.uncork()
    res.end()
    log.push('ended')
  }, 1),
  'an empty reply': listed((log, _, res) => log.push(res.end() === res), 1),
  'an end by callback alone': listed((log, _, res) => void res.end(() => log.push('callback')), 1),
  'drain of many writes': listed(async (log, _, res) => {
    let waits = 0
    for (let at = 0; at < 100; at++) {
      if (!res.write(long.subarray(0, 30_000))) {
        waits++
        await new Promise((resolve) => res.once('drain', resolve))
      }
    }
    res.end()
    log.push(waits > 0, res.listenerCount('drain'))
  }, 2),
  'a stream by pipe': listed((log, _, res) => {
    Readable.from([long.subarray(0, 100_000), long.subarray(0, 5)]).pipe(res)
    res.on('finish', () => log.push('finish'))
    res.on('pipe', () => log.push('pipe'))
    res.on('unpipe', () => log.push('unpipe'))
  }, 1),
  'a stream by pipeline': listed(async (log, _, res) => {
    await pipelineLater(Readable.from(['one ', 'two']), new PassThrough(), res)
    log.push('done', res.writableFinished)
  }, 2),
  'a pipeline whose source fails': scenario({
    memory: false,
    reports: true,
    build(site) {
      const log: unknown[] = []
      site.handle('GET', '/path', (_, res) => {
        const source = async function* (): AsyncGenerator<string> {
          yield 'a part'
          throw new Error('the source failed')
        }
        pipeline(Readable.from(source()), res, (error) => log.push(error?.message))
      })
      return log
    },
    async play(client, log) {
      const wire = await client.connect()
      wire.send(requestBytes('GET', '/path'))
      await eventually(() => log.length > 0 && wire.isEnded, 'the failure')
      assert.ok(!wire.received.includes('0\r\n\r\n'), 'the reply has no end')
      return log
    },
  }),
  'finished by node:stream': listed((log, _, res) => {
    finished(res, (error) => log.push(error?.message ?? 'finished'))
    finishedLater(res).then(
      () => log.push('and later'),
      (error: Error) => log.push(error.message),
    )
    res.write('one')
    setImmediate(() => res.end('two'))
  }, 2),
  'a client that leaves, told to node:stream': scenario({
    memory: false,
    reports: true,
    build(site) {
      const log: string[] = []
      const begun = { count: 0 }
      site.handle('GET', '/path', (req, res) => {
        finished(res, (error) => log.push(`finished ${(error as { code?: string } | undefined)?.code}`))
        pipeline(endless(), res, (error) =>
          log.push(`pipeline ${(error as { code?: string } | undefined)?.code}`),
        )
        req.on('close', () => log.push('req close'))
        res.on('close', () => log.push('res close'))
        res.on('finish', () => log.push('finish'))
        begun.count++
      })
      return log
    },
    async play(client, log) {
      const wire = await client.connect()
      wire.send(requestBytes('GET', '/path'))
      await eventually(() => wire.received.length > 100_000, 'a part')
      wire.reset()
      await eventually(() => log.length >= 4, `all are told: ${log.join(', ')}`)
      return log.toSorted()
    },
  }),
  'destroy before the head': scenario({
    memory: false,
    reports: true,
    build(site) {
      site.handle('GET', '/path', (_, res) => void res.destroy())
    },
    async play(client) {
      const wire = await client.connect()
      wire.send(requestBytes('GET', '/path'))
      await eventually(() => wire.isEnded, 'the end')
      return wire.received.length
    },
  }),
  'a 304 and a 204 with a body that is not sent': scenario({
    memory: false,
    build(site) {
      for (const status of [204, 304]) {
        site.handle('GET', `/${status}`, (_, res) => {
          res.statusCode = status
          res.setHeader('ETag', '"a"')
          res.end('a body')
        })
      }
    },
    async play(client) {
      const wire = await client.connect()
      const out: unknown[] = []
      for (const status of [204, 304]) {
        wire.send(requestBytes('GET', `/${status}`))
        const reply = await wire.reply()
        out.push([reply.status, reply.headers['etag'], reply.text])
      }
      return out
    },
  }),
  'HEAD of whole replies and of those in parts': scenario({
    build(site) {
      const whole: Handle = (_, res) => res.setHeader('X-One', 'a').end('body')
      const parts: Handle = (_, res) => {
        res.setHeader('Content-Length', '8')
        res.write('one ')
        res.end('more')
      }
      site.handle('HEAD', '/whole', whole)
      site.handle('HEAD', '/parts', parts)
      site.handle('GET', '/parts', parts)
    },
    play: async (client) => [
      await client.ask('/whole', { method: 'HEAD' }),
      await client.ask('/parts', { method: 'HEAD' }),
      await client.get('/parts'),
    ],
  }),
})

function endless(): Readable {
  return new Readable({
    read() {
      this.push(long.subarray(0, 65_536))
    },
  })
}
