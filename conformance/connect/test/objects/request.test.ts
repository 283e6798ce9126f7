/** `req` itself: what middlewares see of it before, during and after a reply. */
import { createHash } from 'node:crypto'
import { IncomingMessage, ServerResponse } from 'node:http'
import { PassThrough, pipeline, Readable, Transform } from 'node:stream'
import { text } from 'node:stream/consumers'
import { turns } from '@volant/test-kit'
import { scenarios } from '../../src/scenario.ts'
import { long, told, listed } from './kit.ts'

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
      void turns().then(() => {
        log.push(req.readable)
        req.pipe(createHash('sha1').setEncoding('hex')).on('data', (hash: string) => res.end(hash))
      })
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
