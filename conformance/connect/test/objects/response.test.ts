/** `res` itself: what middlewares see of it before, during and after a reply. */
import assert from 'node:assert/strict'
import { finished, PassThrough, pipeline, Readable } from 'node:stream'
import { finished as finishedLater, pipeline as pipelineLater } from 'node:stream/promises'
import { eventually } from '@volant/test-kit'
import { requestBytes } from '../../src/client.ts'
import type { Handle, Res } from '../../src/layers.ts'
import { scenario, scenarios } from '../../src/scenario.ts'
import { long, told, listed } from './kit.ts'

const state = (res: Res): unknown => [
  res.headersSent,
  res.writableEnded,
  res.finished,
  res.statusCode,
  res.writable,
  res.destroyed,
  typeof res['_header'],
]

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
