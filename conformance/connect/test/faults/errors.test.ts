/** Layers that throw or pass on errors of every kind: each has a defined result. */
import assert from 'node:assert/strict'
import { type Handle } from '../../src/layers.ts'
import { scenario, scenarios } from '../../src/scenario.ts'
import { fine, onEach } from './kit.ts'

/** Handlers that Express answers with 500 or another status of an error, each with what it tries. */
const wrong: Record<string, Handle> = {
  'CR and LF in a value': (_, res) => {
    res.setHeader('X-One', 'a\r\nSet-Cookie: stolen=1')
    res.end('sent')
  },
  'LF in a value': (_, res) => res.setHeader('X-One', 'a\nb').end('sent'),
  'NUL in a value': (_, res) => res.setHeader('X-One', 'a\0b').end('sent'),
  'CR and LF in one of several values': (_, res) =>
    res.setHeader('X-One', ['a', 'b\r\nX-Two: c']).end('sent'),
  'CR and LF in a name': (_, res) => res.setHeader('X-One\r\nX-Two', 'a').end('sent'),
  'CR and LF in writeHead': (_, res) => res.writeHead(200, { 'X-One': 'a\r\nX-Two: b' }).end('sent'),
  'CR and LF in a list for writeHead': (_, res) => res.writeHead(200, ['X-One', 'a\r\nX-Two: b']).end('sent'),
  'CR and LF in appendHeader': (_, res) => res.appendHeader('X-One', 'a\r\nX-Two: b').end('sent'),
  'a value that is undefined': (_, res) => res.setHeader('X-One', undefined as never).end('sent'),
  'a name that is empty': (_, res) => res.setHeader('', 'a').end('sent'),
  'a status that is none': (_, res) => res.writeHead(99).end('sent'),
  'a status that is text': (_, res) => {
    res.statusCode = 'ok' as never
    res.end('sent')
  },
  'a chunk that is none': (_, res) => res.end({ a: 1 } as never),
  'a chunk that is null': (_, res) => void res.write(null as never),
  'a throw': () => {
    throw new Error('thrown')
  },
  'a throw of a status': () => {
    throw Object.assign(new Error('thrown'), { statusCode: 409 })
  },
  'a throw of text': () => {
    // oxlint-disable-next-line no-throw-literal -- middlewares do
    throw 'text'
  },
  'next with an error': (_req, _res, next) =>
    next(Object.assign(new Error('next'), { status: 422, headers: { 'X-Of-Error': 'yes' } })),
  'next with text': (_req, _res, next) => next('text'),
  'next with an error, later': (_req, _res, next) =>
    void setImmediate(next, Object.assign(new Error('later'), { status: 410 })),
  'a status out of range': (_req, _res, next) => next(Object.assign(new Error('range'), { status: 200 })),
  'a header set after the head': (_, res) => {
    res.write('part')
    assert.throws(() => res.setHeader('X-Late', 'a'), { code: 'ERR_HTTP_HEADERS_SENT' })
    assert.throws(() => res.writeHead(201), { code: 'ERR_HTTP_HEADERS_SENT' })
    res.end('sent')
  },
  'an end after the end': (_, res) => {
    res.end('sent')
    res.end()
  },
  'a status message with CR and LF': (_, res) => {
    res.statusMessage = 'fine\r\nX-Two: b'
    res.end('sent')
  },
}

const odd = (): never => {
  throw new Error('odd')
}

scenarios(
  'wrong layers',
  Object.fromEntries(
    Object.entries(wrong).map(([name, handle]) => [
      name,
      scenario({
        reports: true,
        build(site) {
          site.handle('GET', '/connect', handle)
        },
        async play(client) {
          const { status, headers, text } = await client.get('/connect')
          assert.equal(headers['x-two'] ?? headers['x-one'], undefined)
          assert.equal(headers['set-cookie'], undefined)
          const fine = status < 400
          if (fine) assert.ok(text.endsWith('sent'))
          // What a status line may say is up to the server: the reason is not sent.
          return name.includes('status message') ? null : [fine, status, headers['x-of-error'] ?? null]
        },
      }),
    ]),
  ),
)

/** Errors whose properties cannot be read: what they throw must not end the process. */
onEach(
  'errors that throw where they are read',
  {},
  (site) => {
    fine(site)
    const given: unknown[] = [
      Object.defineProperty({}, 'status', { get: odd }),
      Object.defineProperty({ status: 400 }, 'message', { get: odd }),
      { status: 400, headers: { 'x-one': { toString: odd } } },
      new Proxy({}, { get: odd }),
    ]
    given.forEach((error, at) => {
      site.handle('GET', `/${at}`, (_req, _res, next) => next(error))
      site.handle('GET', `/${at}/later`, (_req, _res, next) => void setImmediate(next, error))
    })
  },
  async (client, reports) => {
    for (let at = 0; at < 4; at++) {
      for (const path of [`/${at}`, `/${at}/later`]) {
        assert.equal((await client.get(path)).status, 500, path)
        assert.deepEqual(reports.splice(0).map(String), ['Error: odd'], path)
      }
    }
  },
)
