/** Heads of replies that cannot be sent: each has a defined result. */
import assert from 'node:assert/strict'
import { type Handle } from '../../src/layers.ts'
import { fine, onEach } from './kit.ts'

const split = 'a\r\nX-Two: b\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'

/** Is good when it is read the first times, as a check does, and not after that. */
const turning = (times: number): string =>
  ({ toString: () => (times-- > 0 ? 'good' : split) }) as unknown as string

/** Values of headers that change after they were checked: Node.js sends such a value, or breaks off. */
const changing: Record<string, Handle> = {
  'an array': (_, res) => {
    const values = ['good']
    res.setHeader('X-One', values)
    values[0] = split
    res.end('sent')
  },
  'an array that getHeader gave': (_, res) => {
    res.setHeader('X-One', ['good'])
    ;(res.getHeader('X-One') as string[])[0] = split
    res.end('sent')
  },
  'an array, before a handler': (_, res, next) => {
    const values = ['good']
    res.setHeader('X-One', values)
    values.push(split)
    next()
  },
  'an array of arrays': (_, res) => {
    const inner = ['good']
    res.setHeader('X-One', [inner] as never)
    inner[0] = split
    res.end('sent')
  },
  'an array that is read in another way twice': (_, res) => {
    let reads = 0
    class Turning extends Array<string> {
      override *[Symbol.iterator](): ArrayIterator<string> {
        yield reads++ === 0 ? 'good' : split
      }
    }
    res.setHeader('X-One', new Turning('good', 'good')).end('sent')
  },
  'a function': (_, res) => {
    let times = 1
    const value = Object.assign(() => {}, { toString: () => (times-- > 0 ? 'good' : split) })
    res.setHeader('X-One', value as never).end('sent')
  },
  'an object': (_, res) => res.setHeader('X-One', turning(1)).end('sent'),
  'an object in an array': (_, res) => res.setHeader('X-One', [turning(1)]).end('sent'),
  'an object for writeHead': (_, res) => res.writeHead(200, { 'X-One': turning(1) }).end('sent'),
  'an object for appendHeader': (_, res) => {
    res.appendHeader('X-One', turning(1))
    res.appendHeader('X-One', turning(1)).end('sent')
  },
  'an object as the type': (_, res) => res.setHeader('Content-Type', turning(1)).end('sent'),
}

for (const [name, handle] of Object.entries(changing)) {
  onEach(
    `a header whose value changes after the check: ${name}`,
    {},
    (site) => {
      site.reply('GET', '/changing', () => ({ body: 'sent' }), handle)
      fine(site)
    },
    async (client) => {
      const { status, headers, text } = await client.get('/changing')
      const value = headers['x-one'] ?? headers['content-type']
      assert.match(String(value), /^good/)
      assert.deepEqual([status, text, headers['x-two']], [200, 'sent', undefined])
    },
  )
}

onEach(
  'headers that are too long for any adapter',
  {},
  (site) => {
    fine(site)
    const long = 'v'.repeat(65_536)
    site.handle('GET', '/value', (_, res) => res.setHeader('X-One', long).end('sent'))
    site.handle('GET', '/values', (_, res) => res.setHeader('X-One', ['a', long]).end('sent'))
    site.handle('GET', '/name', (_, res) => res.setHeader(long, 'a').end('sent'))
  },
  async (client, reports) => {
    for (const path of ['/value', '/values', '/name']) {
      assert.equal((await client.get(path)).status, 500, path)
      const { code } = reports.pop() as { code?: string }
      assert.equal(code, 'E_BAD_HEADER', path)
    }
  },
)

onEach(
  'a status from 600 on, as a proxy passes it on from an event',
  {},
  (site) => {
    fine(site)
    site.handle('GET', '/parts', (_, res) => {
      res.statusCode = 999
      setImmediate(() => {
        res.write('se')
        res.end('nt')
      })
    })
    site.handle('GET', '/whole', (_, res) => void setImmediate(() => res.writeHead(600).end('sent')))
  },
  async (client, reports) => {
    for (const path of ['/parts', '/whole']) {
      const { status, text } = await client.get(path)
      assert.deepEqual([status, text], [500, 'sent'])
      assert.deepEqual(
        reports.splice(0).map((error) => (error as { code?: string }).code),
        ['E_BAD_STATUS'],
      )
    }
  },
)

onEach(
  'a Content-Length that is none',
  {},
  (site) => {
    fine(site)
    const given = ['', '0x10', '1e3', '-5', '+5', '5, 5', '99999999999999999999', 'NaN']
    given.forEach((length, at) =>
      site.handle('GET', `/${at}`, (_, res) => {
        res.setHeader('Content-Length', length)
        res.write('hel')
        res.end('lo')
      }),
    )
  },
  async (client) => {
    for (let at = 0; at < 8; at++) assert.equal((await client.get(`/${at}`)).text, 'hello')
  },
)
