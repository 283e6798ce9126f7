/** body-parser and multer: bodies that are collected before the first layer runs, and bodies that are streamed to it. */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deflateSync, gzipSync } from 'node:zlib'
import { eventually } from '@volant/test-kit'
import { brief, requestBytes, type Seen } from '../src/client.ts'
import { bodyParser, type Handle, multer, type Next, type Req, type Res, type Rescue } from '../src/layers.ts'
import { type Scenario, scenario, scenarios } from '../src/scenario.ts'
import type { Site } from '../src/site.ts'

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

/** What an app learns of the error of a layer. */
const tell: Rescue = (error, _req, res, _next) => {
  res.statusCode = error.status ?? 500
  res.end(JSON.stringify([error.type ?? error.code ?? error.message, error.field ?? null]))
}

const routes = { collected: '/collected', streamed: '/streamed', own: '/own' }

function parsing(site: Site): void {
  site.use(...parsers)
  site.handle('POST', routes.collected, show)
  site.streamed('POST', routes.streamed, show)
  site.reply('POST', routes.own, (req) => ({ body: JSON.stringify(req['body'] ?? null) }))
  site.use(tell)
}

type Post = [type: string, body: string | Uint8Array, headers?: Record<string, string>]

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

interface Part {
  name?: string
  filename?: string
  type?: string
  body: string | Uint8Array
}

const boundary = 'xxboundaryxx'

function form(parts: Part[], end = `--${boundary}--\r\n`): Buffer {
  const list = parts.flatMap(({ name, filename, type, body }) => [
    Buffer.from(
      `--${boundary}\r\nContent-Disposition: form-data${name === undefined ? '' : `; name="${name}"`}${
        filename === undefined ? '' : `; filename="${filename}"`
      }\r\n${type === undefined ? '' : `Content-Type: ${type}\r\n`}\r\n`,
    ),
    Buffer.from(body as string),
    Buffer.from('\r\n'),
  ])
  return Buffer.concat([...list, Buffer.from(end)])
}

const multipart = `multipart/form-data; boundary=${boundary}`

interface Upload {
  fieldname: string
  originalname: string
  mimetype: string
  size: number
  buffer?: Buffer
  path?: string
}

function described({ fieldname, originalname, mimetype, size, buffer, path }: Upload): unknown {
  const bytes = buffer ?? readFileSync(path as string)
  assert.equal(bytes.length, size)
  return [fieldname, originalname, mimetype, size, bytes.subarray(0, 20).toString('latin1')]
}

const uploads: Handle = (req, res) => {
  const files: Upload[] = Array.isArray(req['files'])
    ? req['files']
    : Object.values((req['files'] ?? {}) as Record<string, Upload[]>).flat()
  if (req['file'] !== undefined) files.push(req['file'])
  res.end(JSON.stringify([{ ...req['body'] }, files.map(described)]))
}

const two: Part[] = [
  { name: 'title', body: 'a tïtle' },
  { name: 'photo', filename: 'a b.png', type: 'image/png', body: Buffer.alloc(100_000, 'png') },
  { name: 'doc', filename: '../../etc/passwd', type: 'text/plain', body: 'text' },
  { name: 'tags[]', body: 'one' },
  { name: 'tags[]', body: 'two' },
]
const one: Part[] = [two[0] as Part, two[1] as Part]

function uploading(
  make: (upload: typeof multer) => Handle,
  options: object,
  parts: Part[],
  end?: string,
): Scenario {
  return scenario({
    build(site) {
      const dest = mkdtempSync(join(tmpdir(), 'connect-uploads-'))
      for (const [kind, upload] of [
        ['memory', multer({ storage: multer.memoryStorage(), ...options })],
        ['disk', multer({ dest, ...options })],
      ]) {
        site.handle('POST', `/collected/${kind}`, make(upload), uploads)
        site.streamed('POST', `/streamed/${kind}`, make(upload), uploads)
      }
      site.use(tell)
      return dest
    },
    after: (dest) => rmSync(dest, { recursive: true }),
    async play(client, dest) {
      const out: unknown[] = []
      for (const how of ['collected', 'streamed']) {
        for (const kind of ['memory', 'disk']) {
          const reply = await client.post(`/${how}/${kind}`, multipart, form(parts, end))
          out.push(reply)
          // The files of a request that failed are removed.
          if (reply.status >= 400) await eventually(() => readdirSync(dest).length === 0, 'no file stays')
          for (const name of readdirSync(dest)) rmSync(join(dest, name))
        }
      }
      return out
    },
  })
}

const any = (upload: { any(): Handle }): Handle => upload.any()

scenarios('multer', {
  any: uploading(any, {}, two),
  single: uploading((upload) => upload.single('photo'), {}, one),
  'single, of another name': uploading((upload) => upload.single('photo'), {}, two),
  array: uploading((upload) => upload.array('photo', 2), {}, [...one, one[1] as Part]),
  'array with too many': uploading((upload) => upload.array('photo', 1), {}, [...one, one[1] as Part]),
  fields: uploading((upload) => upload.fields([{ name: 'photo', maxCount: 1 }, { name: 'doc' }]), {}, two),
  'none, without files': uploading((upload) => upload.none(), {}, [two[0] as Part]),
  'none, with a file': uploading((upload) => upload.none(), {}, two),
  'a file past its limit': uploading(any, { limits: { fileSize: 1000 } }, two),
  'too many files': uploading(any, { limits: { files: 1 } }, two),
  'too many fields': uploading(any, { limits: { fields: 1 } }, two),
  'too many parts': uploading(any, { limits: { parts: 2 } }, two),
  'a field past its limit': uploading(any, { limits: { fieldSize: 2 } }, two),
  'a name past its limit': uploading(any, { limits: { fieldNameSize: 2 } }, two),
  'a filter that leaves files out': uploading(
    any,
    {
      fileFilter: (_: unknown, file: Upload, done: (error: null, yes: boolean) => void) =>
        done(null, file.mimetype === 'text/plain'),
    },
    two,
  ),
  'a filter that fails': uploading(
    any,
    {
      fileFilter: (_: unknown, _file: Upload, done: (error: Error) => void) =>
        done(Object.assign(new Error('no'), { status: 415 })),
    },
    two,
  ),
  'without a closing boundary': uploading(any, {}, two, ''),
  'without a name': uploading(any, {}, [{ body: 'x' }]),
  'an empty form': uploading(any, {}, []),
  'of another type': scenario({
    build(site) {
      site.handle('POST', '/upload', multer().any(), (req, res) =>
        res.end(JSON.stringify([req['body'] ?? null, req['files'] ?? null])),
      )
    },
    play: (client) => client.post('/upload', 'application/json', '{}'),
  }),
  'on its own storage, 10 MB': scenario({
    memory: false,
    build(site) {
      const storage = {
        _handleFile(
          _req: Req,
          file: { stream: NodeJS.ReadableStream },
          done: (error: null, info: object) => void,
        ) {
          let size = 0
          file.stream.on('data', (part: Buffer) => (size += part.length))
          file.stream.on('end', () => done(null, { size }))
        },
        _removeFile: (_req: Req, _file: unknown, done: (error: null) => void) => done(null),
      }
      site.streamed('POST', '/upload', multer({ storage }).single('photo'), (req, res) =>
        res.end(String(req['file'].size)),
      )
    },
    async play(client) {
      const big = { name: 'photo', filename: 'big', type: 'image/png', body: Buffer.alloc(10_485_760, 1) }
      const reply = await client.post('/upload', multipart, form([big]))
      assert.equal(reply.text, '10485760')
      return reply
    },
  }),
  'of a client that leaves midway, which leaves no file': scenario({
    memory: false,
    build(site) {
      const dest = mkdtempSync(join(tmpdir(), 'connect-uploads-'))
      site.streamed('POST', '/upload', multer({ dest }).any(), uploads)
      return dest
    },
    after: (dest) => rmSync(dest, { recursive: true }),
    async play(client, dest) {
      const body = form(one)
      const bytes = requestBytes('POST', '/upload', { 'content-type': multipart }, body)
      const wire = await client.connect()
      wire.send(bytes.subarray(0, bytes.length - 50_000))
      await eventually(() => readdirSync(dest).length === 1, 'a file')
      wire.reset()
      await eventually(() => readdirSync(dest).length === 0, 'no file stays')
    },
  }),
  'of an unreadable type': scenario({
    // multer passes another error on when the request closes.
    reports: true,
    build(site) {
      site.handle('POST', '/upload', multer().any(), uploads)
      site.use(tell)
    },
    play: async (client) => brief(await client.post('/upload', 'multipart/form-data', 'x')),
  }),
})
