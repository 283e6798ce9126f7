import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { describe, test } from 'node:test'
import * as zlib from 'node:zlib'
import { type App, type HTTPError, problemOf } from 'volant'
import { decompress, type DecompressOptions } from 'volant/compress'
import { fromConnect } from 'volant/connect'
import { z } from 'zod'
import { decodeLater, decodeNow, decoderStream, hasSafeBrotli } from '../src/compression/decoders.ts'
import { Kit } from './kit.ts'

const kit = new Kit()
const json = 'application/json'
const value = { text: 'hello wörld' }
const text = JSON.stringify(value)

const build = (options?: DecompressOptions): App => {
  const app = kit.app({ limits: { maxBodySize: 200_000 } })
  app.use(decompress(options))
  app.post('/body', (ctx) => ctx.body)
  app.post('/text', (ctx) => ctx.bodyText)
  app.post('/bytes', (ctx) => ctx.bodyBytes)
  app.post('/schema', { body: z.object({ text: z.string() }) }, (ctx) => ctx.body)
  app.post('/checked', { beforeBody: () => {} }, (ctx) => ctx.body)
  app.post('/stream', { bodyMode: 'stream' }, (ctx) => ctx.bodyStream)
  app.post('/buffered-stream', (ctx) => ctx.bodyStream)
  app.post('/request', (ctx) => ctx.request.json())
  app.post('/form', (ctx) => ctx.form())
  app.post('/form-stream', { bodyMode: 'stream' }, (ctx) => ctx.form())
  app.post('/parts', { bodyMode: 'stream' }, async (ctx) => {
    const names: string[] = []
    for await (const part of ctx.parts()) names.push(`${part.name}: ${await part.text()}`)
    return names
  })
  return app
}

const whole = ['/body', '/text', '/bytes', '/schema', '/checked', '/stream', '/buffered-stream', '/request']

describe('decompress', () => {
  test('every way to read a body gives the content', async () => {
    await kit.serve(build(), async (live) => {
      for (const [coding, body] of [
        ['gzip', zlib.gzipSync(text)],
        ['X-GZIP', zlib.gzipSync(text)],
        ['deflate', zlib.deflateSync(text)],
        ['identity', Buffer.from(text)],
        ...(zlib.zstdCompressSync === undefined ? [] : ([['zstd', zlib.zstdCompressSync(text)]] as const)),
      ] as const) {
        for (const path of whole) {
          const reply = await live.post(path, json, body, { 'content-encoding': coding })
          assert.deepEqual(
            [reply.status, JSON.parse(reply.body.toString())],
            [200, value],
            `${path} ${coding}`,
          )
        }
      }
      for (const path of whole) assert.deepEqual((await live.post(path, json, text)).status, 200)
    })
  })

  test('as middleware of a route it comes before what reads or checks the body', async () => {
    const app = kit.app()
    const schema = z.object({ text: z.string() })
    let before: unknown
    app.post('/schema', { body: schema }, decompress(), (ctx) => ctx.body)
    const beforeBody = (): void => void (before = true)
    app.post('/checked', { body: schema, beforeBody }, decompress(), (ctx) => ctx.body)
    const form = { body: z.object({ a: z.coerce.number() }), consumes: 'multipart/form-data' } as const
    app.post('/form', form, decompress(), (ctx) => ctx.body)
    await kit.serve(app, async (live) => {
      const gzip = { 'content-encoding': 'gzip' }
      for (const path of ['/schema', '/checked']) {
        const reply = await live.post(path, json, zlib.gzipSync(text), gzip)
        assert.deepEqual([reply.status, reply.json()], [200, value], path)
      }
      assert.equal(before, true)
      const multipart = '--b\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n--b--\r\n'
      const type = 'multipart/form-data; boundary=b'
      assert.equal((await live.post('/form', type, zlib.gzipSync(multipart), gzip)).text, '{"a":1}')
    })
  })

  test('forms, also those that arrive', async () => {
    const boundary = 'b'
    const multipart = `--b\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n--b--\r\n`
    await kit.serve(build(), async (live) => {
      for (const path of ['/form', '/form-stream']) {
        for (const [type, body] of [
          [`multipart/form-data; boundary=${boundary}`, multipart],
          ['application/x-www-form-urlencoded', 'a=1'],
        ] as const) {
          const reply = await live.post(path, type, zlib.gzipSync(body), { 'content-encoding': 'gzip' })
          assert.deepEqual([reply.status, reply.text], [200, '{"a":"1"}'], path)
        }
      }
      const type = `multipart/form-data; boundary=${boundary}`
      const parts = await live.post('/parts', type, zlib.gzipSync(multipart), { 'content-encoding': 'gzip' })
      assert.deepEqual(parts.json(), ['a: 1'])
    })
  })

  test('middleware of connect sees the content, or the body as it is with its coding', async () => {
    const app = build()
    const read = fromConnect(async (req: IncomingMessage & { body?: unknown }, _res, next) => {
      const chunks: Buffer[] = []
      for await (const chunk of req) chunks.push(chunk as Buffer)
      req.body = [
        req.headers['content-encoding'],
        req.headers['content-length'],
        Buffer.concat(chunks).length,
      ]
      next()
    })
    app.post('/connect', read, (ctx) => ctx.body)
    app.post('/connect-stream', { bodyMode: 'stream' }, read, (ctx) => ctx.body)
    const packed = zlib.gzipSync(text)
    await kit.serve(app, async (live) => {
      for (const [path, seen] of [
        ['/connect', [null, String(Buffer.byteLength(text)), Buffer.byteLength(text)]],
        ['/connect-stream', ['gzip', String(packed.length), packed.length]],
      ] as const) {
        const reply = await live.post(path, json, packed, { 'content-encoding': 'gzip' })
        assert.deepEqual(reply.json(), seen, path)
      }
    })
  })

  test('other codings, and several, are 415 with those that are read; corrupt bodies are 400', async () => {
    await kit.serve(build({ encodings: ['gzip'] }), async (live) => {
      for (const coding of ['br', 'deflate', 'gzip, gzip', 'identity, gzip', 'x', '']) {
        const reply = await live.post('/body', json, zlib.gzipSync(text), { 'content-encoding': coding })
        assert.deepEqual(
          [reply.status, reply.headers['accept-encoding'], (reply.json() as { code: string }).code],
          [415, 'gzip', 'E_BODY_TYPE'],
          coding,
        )
      }
      const packed = zlib.gzipSync(text)
      const wrong = Buffer.from(packed)
      wrong[wrong.length - 6]! ^= 1
      for (const body of [
        Buffer.from(text),
        packed.subarray(0, -1),
        packed.subarray(0, 5),
        wrong,
        Buffer.concat([packed, Buffer.from('more')]),
      ]) {
        for (const path of ['/body', '/checked', '/bytes', '/form']) {
          const type = path === '/form' ? 'application/x-www-form-urlencoded' : json
          const reply = await live.post(path, type, body, { 'content-encoding': 'gzip' })
          assert.deepEqual(
            [reply.status, (reply.json() as { code: string }).code],
            [400, 'E_BODY_MALFORMED'],
            path,
          )
        }
      }
      assert.equal((await live.post('/none', json, 'x', { 'content-encoding': 'x' })).status, 404)
      assert.equal((await live.post('/body', json, '', { 'content-encoding': 'gzip' })).status, 204)
    })
  })

  test('bombs: what a body becomes counts against maxBodySize and the ratio', async () => {
    const app = build({ maxRatio: 20 })
    const seen: HTTPError[] = []
    app.onError((error) => void seen.push(error as HTTPError))
    app.post('/read', { bodyMode: 'stream' }, async (ctx) => {
      let length = 0
      for await (const chunk of ctx.bodyStream) length += chunk.length
      return length
    })
    await kit.serve(app, async (live) => {
      for (const [content, status, detail] of [
        ['x'.repeat(65_536), 200],
        ['x'.repeat(65_537), 413, /more than 20 times as long/],
        ['x'.repeat(199_999), 413, /more than 20 times as long/],
        ['x'.repeat(10_000_000), 413, /more than 20 times as long/],
        [randomBytes(100_000).toString('hex'), 200],
        [randomBytes(100_001).toString('hex'), 413, /larger than maxBodySize/],
      ] as const) {
        const bomb = zlib.gzipSync(content)
        for (const path of ['/text', '/checked', '/read']) {
          const reply = await live.post(path, 'text/plain', bomb, { 'content-encoding': 'gzip' })
          assert.equal(reply.status, status, `${path} ${content.length}`)
          if (detail === undefined) continue
          const problem = problemOf(seen.pop())
          assert.equal(problem.code, 'E_BODY_TOO_LARGE')
          assert.match(problem.detail ?? '', detail)
        }
      }
    })
  })

  test('a long body is decoded by another thread, with the same result', async () => {
    const long = JSON.stringify(Array.from({ length: 12_000 }, (_, at) => (at * 7_919) % 100_003))
    const packed = zlib.gzipSync(long)
    assert.ok(packed.length > 20_000)
    await kit.serve(build(), async (live) => {
      for (const path of ['/text', '/checked', '/stream']) {
        const reply = await live.post(path, 'text/plain', packed, { 'content-encoding': 'gzip' })
        assert.equal(reply.body.toString(), long, path)
      }
      const all = await Promise.all(
        Array.from({ length: 40 }, () =>
          live.post('/text', 'text/plain', packed, { 'content-encoding': 'gzip' }),
        ),
      )
      for (const reply of all) assert.equal(reply.text, long)
      const corrupt = await live.post('/text', 'text/plain', packed.subarray(0, -9), {
        'content-encoding': 'gzip',
      })
      assert.equal(corrupt.status, 400)
    })
  })

  test('brotli is read by versions of Node.js that are safe', async () => {
    for (const [version, safe] of [
      ['20.20.2', false],
      ['22.23.3', false],
      ['22.23.4', true],
      ['22.24.0', true],
      ['23.11.1', false],
      ['24.22.0', false],
      ['24.22.1', true],
      ['25.9.0', false],
      ['26.12.0', false],
      ['26.12.1', true],
      ['26.13.0-nightly', true],
      ['27.0.0', true],
    ] as const) {
      assert.equal(hasSafeBrotli(version), safe, version)
    }
    const packed = zlib.brotliCompressSync(text)
    assert.equal(decodeNow('br', packed, 1_000).toString(), text)
    assert.equal((await decodeLater('br', packed, 1_000)).toString(), text)
    assert.throws(() => decodeNow('br', Buffer.concat([packed, packed]), 1_000))
    assert.equal((await decoderStream('br').end(packed).toArray()).join(''), text)
    if (!hasSafeBrotli(process.versions.node)) {
      assert.throws(() => decompress({ encodings: ['br'] }), {
        code: 'E_BAD_OPTION',
        message: /br from Node.js 22\.23\.4, 24\.22\.1 or 26\.12\.1 on \(CVE-2026-111497\)/,
      })
    }
  })

  test('without it an encoded body is 415, whose message names it', async () => {
    const app = kit.app()
    app.post('/body', (ctx) => ctx.body)
    await kit.serve(app, async (live) => {
      const reply = await live.post('/body', json, zlib.gzipSync(text), { 'content-encoding': 'gzip' })
      const { detail, code } = reply.json() as { detail: string; code: string }
      assert.deepEqual(
        [reply.status, code, reply.headers['accept-encoding']],
        [415, 'E_BODY_TYPE', 'identity'],
      )
      assert.match(detail, /decompress\(\)/)
    })
  })

  test('options that make no sense are refused by name', () => {
    for (const [options, message] of [
      [[], /decompress takes an object of options/],
      [
        { encodings: ['compress'] },
        /decompress: encodings takes an array of 'gzip', 'deflate', 'br', 'zstd', each once, not "compress"/,
      ],
      [{ encodings: [] }, /decompress: encodings/],
      [{ maxRatio: 0 }, /decompress: maxRatio takes an integer from 1/],
      [{ requestEncodings: ['gzip'] }, /did you mean "encodings"/],
    ] as const) {
      assert.throws(() => decompress(options as DecompressOptions), { code: 'E_BAD_OPTION', message })
    }
  })
})
