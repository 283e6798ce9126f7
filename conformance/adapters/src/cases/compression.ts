import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import { type App, type Chunk, etag, type VolantError } from 'volant'
import { compress, type CompressOptions, decompress } from 'volant/compress'
import { deferred, eventually, type Kit, request, unchanging } from '../kit.ts'

/** Compressed replies and requests over sockets. What is compressed, and how, is in packages/volant/test. */
export function compression(kit: Kit): void {
  describe('compress', () => {
    const long = 'compressible '.repeat(10_000)
    const gzip = { 'accept-encoding': 'gzip' }
    let folder = ''
    before(() => {
      folder = mkdtempSync(join(tmpdir(), 'volant-'))
      writeFileSync(join(folder, 'small.txt'), 'compressible '.repeat(100))
      writeFileSync(join(folder, 'large.txt'), long)
    })
    after(() => rmSync(folder, { recursive: true }))

    const compressing = (options: CompressOptions = {}): App => {
      const app = kit.app()
      app.use(compress(options), etag())
      return app
    }

    test('whole bodies, on this thread and another, in the coding that all lines of Accept-Encoding prefer', async () => {
      const app = compressing()
      app.get('/short', () => 'compressible '.repeat(100))
      app.get('/long', () => long)
      await kit.serve(app, async (live) => {
        for (const path of ['/short', '/long']) {
          const text = (await live.ask(path)).text
          const wire = await live.connect()
          wire.send(
            `GET ${path} HTTP/1.1\r\nhost: a\r\naccept-encoding: gzip;q=0.5\r\naccept-encoding: br\r\n\r\n`,
          )
          const { headers, body } = await wire.reply()
          assert.deepEqual(
            [headers['content-encoding'], headers['vary'], headers['content-length']],
            ['br', 'Accept-Encoding', String(body.length)],
          )
          assert.equal(brotliDecompressSync(body).toString(), text)
          wire.send(request('HEAD', path, gzip))
          const head = await wire.reply('HEAD')
          assert.deepEqual(
            [head.status, head.headers['vary'], head.headers['content-length']],
            [200, 'Accept-Encoding', undefined],
          )
          assert.equal((await wire.send(request('GET', '/none')).reply()).status, 404)
        }
      })
    })

    test('many large bodies at once are all right', async () => {
      const app = compressing()
      const huge = long.repeat(8)
      app.get('/x', () => huge)
      await kit.serve(app, async (live) => {
        const replies = await Promise.all(Array.from({ length: 50 }, () => live.ask('/x', { headers: gzip })))
        assert.ok(replies.some(({ headers }) => headers['content-encoding'] === 'gzip'))
        for (const { headers, body } of replies) {
          const text = headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body
          assert.equal(text.toString(), huge)
        }
      })
    })

    test('a tag that a compressed reply had is taken back, and 304 has no content', async () => {
      const app = compressing()
      app.get('/x', () => long)
      await kit.serve(app, async (live) => {
        const { headers } = await live.ask('/x', { headers: gzip })
        const tag = headers['etag'] as string
        assert.match(tag, /^W\//)
        const same = await live.ask('/x', { headers: { ...gzip, 'if-none-match': tag } })
        assert.deepEqual(
          [same.status, same.body.length, same.headers['vary'], same.headers['content-encoding']],
          [304, 0, 'Accept-Encoding', undefined],
        )
      })
    })

    test('files are compressed as streams, and parts of them are as they are', async () => {
      const app = compressing()
      app.get('/:name', (ctx) => ctx.file(ctx.params.name, { root: folder }))
      await kit.serve(app, async (live) => {
        for (const name of ['small.txt', 'large.txt']) {
          const { text } = await live.ask(`/${name}`)
          const { headers, body } = await live.ask(`/${name}`, { headers: gzip })
          assert.deepEqual([headers['content-encoding'], headers['accept-ranges']], ['gzip', undefined])
          assert.equal(gunzipSync(body).toString(), text)
          const part = await live.ask(`/${name}`, { headers: { ...gzip, range: 'bytes=10-19' } })
          assert.deepEqual(
            [part.status, part.text, part.headers['content-encoding'], part.headers['vary']],
            [206, text.slice(10, 20), undefined, 'Accept-Encoding'],
          )
          const whole = await live.ask(`/${name}`, {
            headers: { ...gzip, range: 'bytes=10-19', 'if-range': headers['etag'] as string },
          })
          assert.deepEqual([whole.status, gunzipSync(whole.body).toString()], [200, text])
          const same = await live.ask(`/${name}`, {
            headers: { ...gzip, 'if-none-match': headers['etag'] as string },
          })
          assert.deepEqual([same.status, same.headers['vary']], [304, 'Accept-Encoding'])
        }
      })
    })

    for (const coding of ['gzip', 'br']) {
      test(`a stream passes on what it gave when it pauses (${coding})`, async () => {
        const app = compressing()
        const gates = [deferred(), deferred()]
        app.get('/x', async function* (ctx) {
          ctx.header('content-type', 'text/plain')
          yield* ['a', 'b', '', 'c']
          await gates[0]?.promise
          yield 'd'
          await gates[1]?.promise
          yield 'e'
        })
        await kit.serve(app, async (live) => {
          const reply = await fetch(`${live.address.url}/x`, { headers: { 'accept-encoding': coding } })
          assert.equal(reply.headers.get('content-encoding'), coding)
          const reader = reply.body!.pipeThrough(new TextDecoderStream()).getReader()
          const read = async (): Promise<string | undefined> => (await reader.read()).value
          assert.equal(await read(), 'abc')
          gates[0]?.resolve()
          assert.equal(await read(), 'd')
          gates[1]?.resolve()
          assert.equal(await read(), 'e')
          assert.equal(await read(), undefined)
        })
      })
    }

    test('an event stream is not compressed, unless the filter takes it: then each event passes at once', async () => {
      const gates = [deferred(), deferred()]
      const build = (options: CompressOptions): App => {
        const app = compressing(options)
        app.get('/x', async function* (ctx) {
          ctx.header('content-type', 'text/event-stream')
          yield 'data: 1\n\n'
          await gates[0]?.promise
          yield* ['data: 2\n\n', 'data: 3\n\n']
          await gates[1]?.promise
        })
        return app
      }
      await kit.serve(build({}), async (live) => {
        const wire = await live.connect()
        wire.send(request('GET', '/x', gzip))
        await wire.until(() => (wire.received.includes('data: 1\n\n') ? true : undefined), 'an event')
        assert.doesNotMatch(wire.received.toString(), /^(?:content-encoding|vary):/im)
        wire.reset()
      })
      await kit.serve(build({ filter: /^text\/event-stream$/ }), async (live) => {
        const reply = await fetch(`${live.address.url}/x`, { headers: { 'accept-encoding': 'br, gzip' } })
        assert.equal(reply.headers.get('content-encoding'), 'gzip')
        const reader = reply.body!.pipeThrough(new TextDecoderStream()).getReader()
        let text = ''
        const until = async (end: string): Promise<void> => {
          while (!text.endsWith(end)) text += (await reader.read()).value ?? assert.fail(text)
        }
        await until('data: 1\n\n')
        gates[0]?.resolve()
        await until('data: 2\n\ndata: 3\n\n')
        gates[1]?.resolve()
        assert.equal((await reader.read()).done, true)
      })
    })

    test('a client that leaves ends the source and gives its compressor back', async () => {
      const app = compressing({ maxCompressing: 1 })
      let ended = 0
      app.get('/x', async function* (ctx): AsyncGenerator<Chunk> {
        ctx.header('content-type', 'text/plain')
        const { signal } = ctx
        try {
          yield 'x'
          await new Promise((resolve) => signal.addEventListener('abort', resolve))
        } finally {
          ended++
        }
      })
      await kit.serve(app, async (live) => {
        for (let round = 1; round <= 3; round++) {
          const first = await live.connect()
          first.send(request('GET', '/x', gzip))
          const has = (text: string) => () => (first.received.includes(text) ? true : undefined)
          await first.until(has('content-encoding: gzip'), 'the head')
          const second = await live.connect()
          second.send(request('GET', '/x', gzip))
          await second.until(() => (second.received.includes('\r\n\r\n') ? true : undefined), 'the head')
          assert.equal(second.received.includes('content-encoding'), false)
          first.reset()
          second.reset()
          await eventually(() => ended === round * 2, 'the sources end')
        }
      })
    })

    test('a source that fails cuts the reply off, and is reported', async () => {
      const app = compressing()
      app.get('/x', async function* (ctx): AsyncGenerator<Chunk> {
        ctx.header('content-type', 'text/plain')
        yield 'x'
        throw new Error('the disk is gone')
      })
      app.get('/number', (ctx) => ctx.stream(['x', 1 as unknown as string], { type: 'text/plain' }))
      app.get('/short', (ctx) => ctx.stream([long], { type: 'text/plain', length: long.length + 1 }))
      app.get('/longer', (ctx) => ctx.stream([long, 'x'], { type: 'text/plain', length: long.length }))
      await kit.serve(app, async (live) => {
        for (const [path, message] of [
          ['/x', /^the disk is gone$/],
          ['/number', /a chunk of a compressed stream is a string or bytes, not 1/],
          ['/short', /was declared as 130001 bytes, and its source ended after 130000/],
          ['/longer', /was declared as 130000 bytes, and its source gave 130001/],
        ] as const) {
          await assert.rejects(
            fetch(live.address.url + path, { headers: gzip }).then((reply) => reply.text()),
          )
          await eventually(() => kit.reports.length > 0, 'the report')
          assert.match((kit.reports.pop() as Error).message, message)
        }
      })
    })

    test('readers that stop hold up their sources, and no more compressors than maxCompressing', async () => {
      const readers = 30
      const app = compressing({ maxCompressing: 5 })
      const chunk = randomBytes(49_152).toString('base64')
      let given = 0
      app.get('/x', async function* (ctx): AsyncGenerator<Chunk> {
        ctx.header('content-type', 'text/plain')
        for (let at = 0; at < 250; at++) {
          given++
          yield chunk
        }
      })
      await kit.serve(app, async (live) => {
        const wires = await Promise.all(Array.from({ length: readers }, () => live.connect()))
        for (const wire of wires) {
          wire.send(request('GET', '/x', gzip))
          await wire.until(() => (wire.received.includes('\r\n\r\n') ? true : undefined), 'the head')
          wire.socket.pause()
        }
        await unchanging(() => given, 'the sources wait')
        assert.ok(given < readers * 200, `${given} chunks were taken of ${readers} sources`)
        const compressed = wires.filter(({ received }) => received.includes('content-encoding: gzip'))
        assert.equal(compressed.length, 5)
        for (const wire of wires) if (wire !== compressed[0]) wire.reset()
        const [kept] = compressed
        kept?.socket.resume()
        const body = gunzipSync((await kept!.reply()).body)
        assert.ok(body.equals(Buffer.from(chunk.repeat(250))))
      })
    })
  })

  describe('decompress', () => {
    const text = JSON.stringify(Array.from({ length: 20_000 }, (_, at) => (at * 7_919) % 100_003))
    const json = 'application/json'
    const gzip = { 'content-encoding': 'gzip' }
    const decompressing = (): App => {
      const app = kit.app({ limits: { maxBodySize: 200_000 } })
      app.use(decompress({ encodings: ['gzip'] }))
      app.post('/body', (ctx) => ctx.body)
      app.post('/checked', { beforeBody: () => {} }, (ctx) => ctx.body)
      app.post('/stream', { bodyMode: 'stream' }, (ctx) => ctx.bodyStream)
      app.post('/count', { bodyMode: 'stream' }, async (ctx) => {
        let length = 0
        for await (const chunk of ctx.bodyStream) length += chunk.length
        return length
      })
      return app
    }

    test('bodies with a length and in chunks, buffered and streamed', async () => {
      await kit.serve(decompressing(), async (live) => {
        const packed = gzipSync(text)
        for (const path of ['/body', '/checked', '/stream']) {
          assert.equal((await live.post(path, json, packed, gzip)).body.toString(), text, path)
          const wire = await live.connect()
          wire.send(request('POST', path, { ...gzip, 'content-type': json, 'transfer-encoding': 'chunked' }))
          for (let at = 0; at < packed.length; at += 100) {
            const part = packed.subarray(at, at + 100)
            wire.send(
              Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')]),
            )
          }
          const reply = await wire.send('0\r\n\r\n').reply()
          assert.equal(reply.body.toString(), text, path)
        }
      })
    })

    test('bombs are 413, corrupt bodies 400, other codings 415; the connection can be used again or ends', async () => {
      await kit.serve(decompressing(), async (live) => {
        const bomb = gzipSync(Buffer.alloc(5_000_000))
        for (const path of ['/body', '/checked', '/count']) {
          assert.equal((await live.post(path, json, bomb, gzip)).status, 413, path)
          assert.equal((await live.post(path, json, gzipSync(text).subarray(0, -1), gzip)).status, 400, path)
          const other = await live.post(path, json, bomb, { 'content-encoding': 'br' })
          assert.deepEqual([other.status, other.headers['accept-encoding']], [415, 'gzip'], path)
        }
        const most = await live.post('/count', json, randomBytes(200_001), gzip)
        assert.equal(most.status, 413)
        assert.equal((await live.post('/body', json, gzipSync('1'), gzip)).text, '1')
      })
    })

    test('a client that leaves in the middle is told to the reader', async () => {
      const app = decompressing()
      const failed = deferred<unknown>()
      const entered = deferred()
      app.post('/read', { bodyMode: 'stream' }, async (ctx) => {
        entered.resolve()
        try {
          for await (const chunk of ctx.bodyStream) assert.ok(chunk.length > 0)
        } catch (error) {
          failed.resolve(error)
        }
      })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send(
          request('POST', '/read', { ...gzip, 'content-length': '1000' }, gzipSync(text).subarray(0, 50)),
        )
        await entered.promise
        wire.reset()
        assert.equal(((await failed.promise) as VolantError).code, 'E_ABORTED')
      })
    })
  })
}
