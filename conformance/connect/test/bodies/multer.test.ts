/** multer: bodies that are streamed to the first layer. */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '@volant/test-kit'
import { brief, requestBytes } from '../../src/client.ts'
import { type Handle, multer, type Req } from '../../src/layers.ts'
import { type Scenario, scenario, scenarios } from '../../src/scenario.ts'
import { tell } from './kit.ts'

const boundary = 'xxboundaryxx'

const multipart = `multipart/form-data; boundary=${boundary}`

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

interface Part {
  name?: string
  filename?: string
  type?: string
  body: string | Uint8Array
}

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
