/** body-parser: bodies that are collected before the first layer runs. */
import assert from 'node:assert/strict'
import { deflateSync, gzipSync } from 'node:zlib'
import { eventually } from '@volant/test-kit'
import { requestBytes, type Seen } from '../../src/client.ts'
import { bodyParser, type Handle, type Next, type Req, type Res } from '../../src/layers.ts'
import { type Scenario, scenario, scenarios } from '../../src/scenario.ts'
import type { Site } from '../../src/site.ts'
import { tell } from './kit.ts'

const parsers: Handle[] = [
  bodyParser.json({ limit: '100kb' }),
  bodyParser.urlencoded({ extended: true }),
  bodyParser.text({ type: 'text/plain', defaultCharset: 'utf-8' }),
  bodyParser.raw({ type: 'application/octet-stream', limit: 20_000_000 }),
]

const show: Handle = (req, res) => {
  const { body } = req
  res.end(
    Buffer.isBuffer(body)
      ? `${body.length} bytes ${body.subarray(0, 8).toString('hex')}`
      : JSON.stringify(body ?? null),
  )
}

const routes = { collected: '/collected', streamed: '/streamed', own: '/own' }

const nested = '['.repeat(200) + ']'.repeat(200)

const posts: Record<string, Post> = {
  json: ['application/json', '{"a":[1,2,{"b":"ü"}]}'],
  'json with a charset': ['application/json; charset=UTF-16', Buffer.from('{"a":1}', 'utf16le')],
  'json of an unknown charset': ['application/json; charset=x-none', '{}'],
  'malformed json': ['application/json', '{"a":'],
  'json that is no object': ['application/json', '"text"'],
  'empty json': ['application/json', ''],
  'json past the limit': ['application/json', JSON.stringify('x'.repeat(200_000))],
  'deep json': ['application/json', nested],
  'json with __proto__': ['application/json', '{"__proto__":{"x":1},"a":1}'],
  urlencoded: ['application/x-www-form-urlencoded', 'a=1&b=%C3%BC&a=2&c[d]=3&c[e][]=4'],
  'urlencoded past the parameters': ['application/x-www-form-urlencoded', 'a=1&'.repeat(1001)],
  'urlencoded of an unknown charset': ['application/x-www-form-urlencoded; charset=x-none', 'a=1'],
  text: ['text/plain', 'hellö'],
  'text in latin1': ['text/plain; charset=iso-8859-1', Buffer.from('hellö', 'latin1')],
  bytes: ['application/octet-stream', Buffer.from([0, 1, 2, 255])],
  'bytes, 300 KB': ['application/octet-stream', Buffer.alloc(300_000, 7)],
  'of another type': ['application/x-other', 'other'],
  'gzipped json': ['application/json', gzipSync('{"a":1}'), { 'content-encoding': 'gzip' }],
  'deflated json': ['application/json', deflateSync('{"a":1}'), { 'content-encoding': 'deflate' }],
  'a bomb': ['application/json', gzipSync(Buffer.alloc(5_000_000, ' ')), { 'content-encoding': 'gzip' }],
  'of an unknown coding': ['application/json', '{}', { 'content-encoding': 'x-none' }],
  'broken gzip': ['application/json', 'not gzip', { 'content-encoding': 'gzip' }],
}

scenarios('body-parser', {
  ...Object.fromEntries(
    Object.entries(posts).map(([name, post]): [string, Scenario] => [
      name,
      {
        build: parsing,
        async play(client) {
          const out: Seen[] = []
          for (const path of Object.values(routes)) out.push(await client.post(path, ...post))
          return out
        },
      },
    ]),
  ),
  'in chunks': scenario({
    build: parsing,
    async play(client) {
      const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' }
      const body = '3\r\n{"a\r\n4\r\n":1}\r\n0\r\n\r\n'
      return [
        await client.ask(routes.streamed, { method: 'POST', headers, body }),
        await client.ask(routes.collected, { method: 'POST', headers, body }),
      ]
    },
    memory: false,
  }),
  'bytes of 10 MB': scenario({
    memory: false,
    build: parsing,
    async play(client) {
      const reply = await client.post(
        routes.streamed,
        'application/octet-stream',
        Buffer.alloc(10_485_760, 'abc'),
      )
      assert.match(reply.text, /^10485760 bytes/)
      return reply
    },
  }),
  'strict: false, and a reviver': scenario({
    build(site) {
      site.use(
        bodyParser.json({
          strict: false,
          reviver: (_: string, value: unknown) => (value === 1 ? 'one' : value),
        }),
      )
      site.handle('POST', routes.collected, show)
    },
    play: async (client) => [
      await client.post(routes.collected, 'application/json', 'null'),
      await client.post(routes.collected, 'application/json', '{"a":1}'),
    ],
  }),
  'inflate: false': scenario({
    build(site) {
      site.use(bodyParser.json({ inflate: false }))
      site.handle('POST', routes.collected, show)
      site.use(tell)
    },
    play: (client) =>
      client.post(routes.collected, 'application/json', gzipSync('{}'), { 'content-encoding': 'gzip' }),
  }),
  'that verifies': scenario({
    build(site) {
      const verify = (_req: Req, _res: Res, bytes: Buffer, charset: string): void => {
        if (bytes[0] === 0x5b) throw Object.assign(new Error(`no arrays in ${charset}`), { status: 403 })
      }
      site.use(bodyParser.json({ verify }))
      site.handle('POST', routes.collected, show)
      site.use(tell)
    },
    play: async (client) => [
      await client.post(routes.collected, 'application/json', '{"a":1}'),
      await client.post(routes.collected, 'application/json', '[1]'),
    ],
  }),
  'twice, the second idle': scenario({
    build(site) {
      site.use(bodyParser.json(), bodyParser.json({ limit: 1 }))
      site.handle('POST', routes.collected, show)
    },
    play: (client) => client.post(routes.collected, 'application/json', '{"a":1}'),
  }),
  'behind a layer that set req.body': scenario({
    build(site) {
      site.use((req: Req, _res: Res, next: Next) => {
        req['body'] = { mine: true }
        next()
      }, bodyParser.json())
      site.handle('POST', routes.collected, show)
      site.streamed('POST', routes.streamed, show)
    },
    async play(client) {
      return [
        await client.post(routes.collected, 'application/json', '{"a":1}'),
        await client.post(routes.streamed, 'application/json', '{"a":1}'),
      ]
    },
  }),
  'behind a layer that has read the stream': scenario({
    build(site) {
      site.use((req: Req, _res: Res, next: Next) => {
        const parts: Buffer[] = []
        req.on('data', (part: Buffer) => parts.push(part))
        req.on('end', () => {
          req['raw'] = Buffer.concat(parts).toString()
          next()
        })
      }, bodyParser.json())
      const raw: Handle = (req, res) => res.end(JSON.stringify([req['raw'], req['body'] ?? null]))
      site.handle('POST', routes.collected, raw)
      site.streamed('POST', routes.streamed, raw)
      site.use(tell)
    },
    play: async (client) => [
      await client.post(routes.collected, 'application/json', '{"a":1}'),
      await client.post(routes.streamed, 'application/json', '{"a":1}'),
    ],
  }),
  'of requests without a body': scenario({
    build(site) {
      site.use(...parsers)
      site.handle('GET', '/get', show)
      site.handle('POST', routes.collected, show)
      site.streamed('POST', routes.streamed, show)
    },
    play: async (client) => [
      await client.get('/get', { 'content-type': 'application/json' }),
      await client.ask(routes.collected, { method: 'POST', headers: { 'content-type': 'application/json' } }),
      await client.ask(routes.streamed, { method: 'POST', headers: { 'content-length': '0' } }),
    ],
  }),
  'of a client that leaves midway': scenario({
    memory: false,
    build(site) {
      const heard: string[] = []
      site.use(
        (req: Req, res: Res, next: Next) => {
          heard.push('begun')
          req.on('aborted', () => heard.push('aborted'))
          res.on('close', () => heard.push('close'))
          next()
        },
        ...parsers,
      )
      site.streamed('POST', routes.streamed, show)
      return heard
    },
    async play(client, heard) {
      const wire = await client.connect()
      const headers = { 'content-type': 'application/json', 'content-length': '1000' }
      wire.send(requestBytes('POST', routes.streamed, headers, '{"a":'))
      await eventually(() => heard.length === 1, 'the request')
      wire.reset()
      await eventually(() => heard.length === 3, 'the layer hears of it')
      return heard
    },
  }),
})

function parsing(site: Site): void {
  site.use(...parsers)
  site.handle('POST', routes.collected, show)
  site.streamed('POST', routes.streamed, show)
  site.reply('POST', routes.own, (req) => ({ body: JSON.stringify(req['body'] ?? null) }))
  site.use(tell)
}

type Post = [type: string, body: string | Uint8Array, headers?: Record<string, string>]
