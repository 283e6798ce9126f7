/** Forms: what a handler gets of them, and what is left of one that breaks off, is malformed, or never ends. */
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { type App, contract } from 'volant'
import { createClient } from 'volant/client'
import { z } from 'zod'
import { deferred, eventually, type Kit, request, unchanging } from '../kit.ts'

const type = 'multipart/form-data; boundary=b'
const part = (head: string, content: string) =>
  `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${content}\r\n`
const end = '--b--\r\n'
const whole =
  part('name="title"', 'a title') +
  part('name="one"; filename="1.txt"', '1'.repeat(200_000)) +
  part('name="two"; filename="2.txt"', '2'.repeat(100_000)) +
  end

export function forms(kit: Kit): void {
  describe('forms', () => {
    const folder = mkdtempSync(join(tmpdir(), 'volant-forms-'))
    after(() => rmSync(folder, { recursive: true }))

    /** An app whose handlers save the parts of a form, and that tells how each of them ended. */
    function saving(limits: Parameters<Kit['app']>[0] = {}): {
      app: App
      begun: () => number
      ends: string[]
    } {
      const app = kit.app(limits)
      const ends: string[] = []
      let begun = 0
      app.post('/save', { bodyMode: 'stream', maxBodySize: 2 ** 30 }, async (ctx) => {
        begun++
        const sizes: number[] = []
        try {
          for await (const each of ctx.parts()) sizes.push((await each.toFile(folder)).size)
          ends.push('complete')
        } catch (error) {
          ends.push(String((error as { code?: string }).code))
          throw error
        }
        return sizes
      })
      return { app, begun: () => begun, ends }
    }

    /** Resolves when no file is left, and no descriptor more than there were. */
    async function nothingLeft(app: App, before: number): Promise<void> {
      await eventually(
        () => app.stats().inFlight === 0 && app.stats().connections === 0,
        'no request is left',
      )
      await eventually(() => readdirSync(folder).length === 0, 'no file is left')
      await eventually(() => descriptors() <= before, 'no descriptor is left')
    }

    for (const bodyMode of ['buffer', 'stream'] as const) {
      test(`fields and files (${bodyMode})`, async () => {
        const app = kit.app()
        app.post('/form', { bodyMode }, async (ctx) => {
          const { title, one, two } = await ctx.form()
          return [title, ...[one, two].map((file) => (file instanceof File ? [file.name, file.size] : file))]
        })
        app.post('/parts', { bodyMode }, async (ctx) => {
          const seen: unknown[] = []
          for await (const { name, filename } of ctx.parts()) seen.push([name, filename ?? null])
          return seen
        })
        await kit.serve(app, async (live) => {
          assert.deepEqual((await live.post('/form', type, whole)).json(), [
            'a title',
            ['1.txt', 200_000],
            ['2.txt', 100_000],
          ])
          const names = [
            ['title', null],
            ['one', '1.txt'],
            ['two', '2.txt'],
          ]
          assert.deepEqual((await live.post('/parts', type, whole)).json(), names)
          const wire = await live.connect()
          for (let round = 0; round < 2; round++) {
            wire.send(request('POST', '/form', { 'content-type': type }, part('name=title', '1')))
            const reply = await wire.reply()
            assert.deepEqual(
              [reply.status, (reply.json() as { code: string }).code],
              [400, 'E_BODY_MALFORMED'],
            )
          }
        })
      })
    }

    test('a form that is declared is checked, and clients send it', async () => {
      const upload = contract.post('/cats', {
        consumes: 'multipart/form-data',
        body: z.object({ name: z.string().min(1), age: z.coerce.number<number>(), photo: z.file() }),
        response: z.object({ name: z.string(), age: z.number(), photo: z.string() }),
      })
      const app = kit.app()
      app.implement({ upload }, { upload: ({ body }) => ({ ...body, photo: body.photo.name }) })
      await kit.serve(app, async (live) => {
        const client = createClient({ upload }, live.address.url)
        const photo = new File(['x'], 'tom.png')
        const good = await client.upload({ body: { name: 'Tom', age: 3, photo } })
        assert.deepEqual(good.data, { name: 'Tom', age: 3, photo: 'tom.png' })
        const bad = await client.upload({ body: { name: '', age: 3, photo } })
        assert.ok(!bad.ok && bad.code === 'E_VALIDATION')
        assert.equal((await live.post('/cats', 'application/json', '{}')).status, 415)
      })
    })

    test('a form is saved part by part', async () => {
      const { app } = saving()
      await kit.serve(app, async (live) => {
        assert.deepEqual((await live.post('/save', type, whole)).json(), [7, 200_000, 100_000])
        const names = readdirSync(folder)
        assert.equal(names.length, 3)
        for (const name of names) rmSync(join(folder, name))
      })
    })

    test('each of many forms at a time has its own bytes, however they are read', async () => {
      const app = kit.app({ limits: { maxBodySize: 2 ** 30 } })
      const sumOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
      app.post('/parts', { bodyMode: 'stream' }, async (ctx) => {
        const sums: string[] = []
        let kept: Buffer[] = []
        for await (const each of ctx.parts()) {
          const way = sums.length % 4
          if (way === 0) sums.push(sumOf(await each.bytes()))
          else if (way === 1) {
            const { path } = await each.toFile(folder)
            sums.push(sumOf(readFileSync(path)))
            rmSync(path)
          } else if (way === 2) {
            kept = []
            for await (const chunk of each) kept.push(chunk)
            sums.push('')
          } else {
            // What an earlier part gave is not written over by this one.
            const { path } = await each.toFile(folder)
            sums[sums.length - 1] = sumOf(Buffer.concat(kept))
            sums.push(sumOf(readFileSync(path)))
            rmSync(path)
          }
        }
        return sums
      })
      app.post('/form', { bodyMode: 'stream' }, async (ctx) => {
        const files = Object.values(await ctx.form({ maxFormFiles: 20 })) as File[]
        return Promise.all(files.map(async (file) => sumOf(new Uint8Array(await file.arrayBuffer()))))
      })
      await kit.serve(app, async (live) => {
        const send = async (at: number) => {
          const contents = Array.from({ length: 8 }, (_, part) =>
            randomBytes(((at + 1) * (part + 3) * 7919) % 250_000),
          )
          const body = Buffer.concat([
            ...contents.flatMap((bytes, part) => [
              Buffer.from(`--b\r\nContent-Disposition: form-data; name="${part}"; filename="f"\r\n\r\n`),
              bytes,
              Buffer.from('\r\n'),
            ]),
            Buffer.from(end),
          ])
          const reply = await live.post(at % 2 === 0 ? '/parts' : '/form', type, body)
          assert.deepEqual(reply.json(), contents.map(sumOf))
        }
        for (let round = 0; round < 3; round++)
          await Promise.all(Array.from({ length: 12 }, (_, at) => send(at + round)))
      })
    })

    test('a client that leaves at any of 40 places leaves no file and no descriptor', async () => {
      const { app, begun, ends } = saving()
      const reports = kit.reports.length
      const bytes = request('POST', '/save', { 'content-type': type }, whole)
      const head = bytes.length - whole.length
      await kit.serve(app, async (live) => {
        const before = descriptors()
        for (let place = 0; place < 40; place++) {
          const cut = head + Math.floor((place * (whole.length - 1)) / 39)
          const wire = await live.connect()
          wire.send(bytes.subarray(0, cut))
          await eventually(() => begun() === place + 1, 'the handler began')
          if (place % 3 === 0) await eventually(() => wire.socket.writableLength === 0, 'it was sent')
          if (place % 2 === 0) wire.reset()
          else wire.close()
          await eventually(() => ends.length === place + 1, 'the handler ended')
        }
        assert.deepEqual(new Set(ends), new Set(['E_ABORTED']))
        await nothingLeft(app, before)
        assert.equal((await live.post('/save', type, part('name=a', '') + end)).status, 200)
        for (const name of readdirSync(folder)) rmSync(join(folder, name))
      })
      assert.equal(kit.reports.length, reports)
    })

    test('a client that closes its sending side too early left', kit.needs('half-close'), async () => {
      const { app, ends } = saving()
      await kit.serve(app, async (live) => {
        const before = descriptors()
        for (const cut of [100, 150_000, 250_000]) {
          const wire = await live.connect()
          wire.send(request('POST', '/save', { 'content-type': type }, whole).subarray(0, cut + 200))
          wire.socket.end()
        }
        await eventually(() => ends.length === 3, 'the handlers ended')
        assert.deepEqual(new Set(ends), new Set(['E_ABORTED']))
        await nothingLeft(app, before)
      })
    })

    test('files that were saved are removed when a later part is refused', async () => {
      const { app, ends } = saving({ limits: { maxFieldSize: 10 } })
      await kit.serve(app, async (live) => {
        const before = descriptors()
        for (const [rest, status] of [
          [`${part('name=x', 'x'.repeat(11))}${end}`, 413],
          [`${part('', 'x')}${end}`, 400],
          ['', 400],
        ] as const) {
          const reply = await live.post('/save', type, part('name=a; filename=b', 'saved') + rest)
          assert.equal(reply.status, status)
        }
        assert.deepEqual(ends, ['E_FORM_TOO_LARGE', 'E_BODY_MALFORMED', 'E_BODY_MALFORMED'])
        await nothingLeft(app, before)
      })
    })

    const endless: [what: string, bytes: string][] = [
      ['100,000 parts', part('name=a', '').repeat(200)],
      ['100,000 files', part('name=a; filename=b', '').repeat(20)],
      ['a header field without end', `--b\r\nX: ${'x'.repeat(5000)}`],
      ['header fields without end', `--b\r\n${'X-A: b\r\n'.repeat(20)}`],
      ['a field without end', `--b\r\nContent-Disposition: form-data; name=a\r\n\r\n${'x'.repeat(70_000)}`],
      ['a name without end', `--b\r\nContent-Disposition: form-data; name=${'x'.repeat(256)}\r\n\r\n`],
    ]
    for (const [what, bytes] of endless) {
      test(`${what}: 413 long before its end`, async () => {
        const { app } = saving()
        await kit.serve(app, async (live) => {
          const wire = await live.connect()
          wire.send(request('POST', '/save', { 'content-type': type, 'content-length': '1000000000' }, bytes))
          const reply = await wire.reply()
          const { code, detail } = reply.json() as { code: string; detail: string }
          assert.deepEqual([reply.status, code], [413, 'E_FORM_TOO_LARGE'])
          assert.match(detail, /more than|longer than|larger than/)
          await eventually(() => readdirSync(folder).length === 0, 'no file is left')
        })
      })
    }

    test('a form of 100,000 parts that was buffered is 413', async () => {
      const app = kit.app({ limits: { maxBodySize: 8_000_000 } })
      app.post('/form', (ctx) => ctx.form())
      await kit.serve(app, async (live) => {
        assert.equal((await live.post('/form', type, part('name=a', '').repeat(100_000) + end)).status, 413)
      })
    })

    test('a form past maxBodySize is 413, whether its length is known or not', async () => {
      const app = kit.app()
      app.post('/form', { bodyMode: 'stream', maxBodySize: 1000 }, (ctx) => ctx.form())
      await kit.serve(app, async (live) => {
        const body = part('name=a', 'x'.repeat(1000)) + end
        assert.equal((await live.post('/form', type, body)).status, 413)
        const wire = await live.connect()
        const chunk = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
        wire.send(request('POST', '/form', { 'content-type': type, 'transfer-encoding': 'chunked' }, chunk))
        const reply = await wire.reply()
        assert.deepEqual([reply.status, (reply.json() as { code: string }).code], [413, 'E_BODY_TOO_LARGE'])
      })
    })

    test('a client that is too slow is 408, and leaves no file', async () => {
      const { app, ends } = saving({ limits: { requestTimeout: 200, headersTimeout: 200 } })
      await kit.serve(app, async (live) => {
        const before = descriptors()
        const wire = await live.connect()
        wire.send(
          request('POST', '/save', { 'content-type': type, 'content-length': '1000' }, part('name=a', 'x')),
        )
        assert.equal((await wire.reply()).status, 408)
        await eventually(() => ends.length === 1, 'the handler ended')
        assert.deepEqual(ends, ['E_REQUEST_TIMEOUT'])
        wire.close()
        await nothingLeft(app, before)
      })
    })

    test('a handler that stops reading holds the client back, and its time limit ends it', async () => {
      const app = kit.app({ limits: { maxBodySize: 2 ** 30, maxFileSize: 2 ** 30 } })
      const goOn = deferred()
      app.post('/slow', { bodyMode: 'stream' }, async (ctx) => {
        let length = 0
        for await (const each of ctx.parts()) {
          await goOn.promise
          for await (const chunk of each) length += chunk.length
        }
        return length
      })
      app.post('/never', { bodyMode: 'stream', handlerTimeout: 200 }, async (ctx) => {
        for await (const each of ctx.parts()) {
          await each.toFile(folder)
          await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
        }
      })
      await kit.serve(app, async (live) => {
        const before = descriptors()
        const [count, piece] = [50, 'x'.repeat(1_000_000)]
        const size = count * piece.length
        const head = part('name=a; filename=b', '').slice(0, -2)
        const length = String(head.length + size + 2 + end.length)
        const wire = await live.connect()
        wire.send(request('POST', '/slow', { 'content-type': type, 'content-length': length }, head))
        for (let at = 0; at < count; at++) wire.send(piece)
        wire.send(`\r\n${end}`)
        await unchanging(() => wire.socket.writableLength, 'what is still to be sent')
        assert.ok(wire.socket.writableLength > size / 2)
        goOn.resolve()
        assert.equal((await wire.reply()).text, String(size))
        wire.close()
        const second = await live.connect()
        const saved = part('name=a; filename=b', 'saved')
        second.send(request('POST', '/never', { 'content-type': type, 'content-length': '1000' }, saved))
        assert.equal((await second.reply()).status, 503)
        second.close()
        await nothingLeft(app, before)
      })
    })

    test('a handler that leaves the rest of a form unread is answered', async () => {
      const app = kit.app({ limits: { drainLimit: 1_000_000 } })
      app.post('/first', { bodyMode: 'stream' }, async (ctx) => {
        for await (const { name } of ctx.parts()) return name
        return ''
      })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        for (let round = 0; round < 2; round++) {
          wire.send(request('POST', '/first', { 'content-type': type }, whole))
          assert.equal((await wire.reply()).text, 'title')
        }
      })
    })

    test(
      '100 Continue is sent when a form is read, and not for one that is refused',
      kit.needs('late-100'),
      async () => {
        const { app } = saving()
        await kit.serve(app, async (live) => {
          const body = part('name=a', 'x') + end
          const expecting = { expect: '100-continue', 'content-length': String(body.length) }
          const wire = await live.connect()
          wire.send(request('POST', '/save', { 'content-type': type, ...expecting }))
          assert.equal((await wire.interim()).status, 100)
          wire.send(body)
          assert.equal((await wire.reply()).text, '[1]')
          const refused = await live.connect()
          refused.send(request('POST', '/save', { 'content-type': 'image/png', ...expecting }))
          assert.equal((await refused.interim()).status, 415)
          for (const name of readdirSync(folder)) rmSync(join(folder, name))
        })
      },
    )

    test('a form that was read is not read again as a stream', async () => {
      const app = kit.app()
      app.post('/twice', { bodyMode: 'stream' }, async (ctx) => {
        await ctx.form()
        assert.throws(() => ctx.bodyStream, { code: 'E_BODY_USED' })
        return 'once'
      })
      await kit.serve(app, async (live) => {
        assert.equal((await live.post('/twice', type, part('name=a', 'x') + end)).text, 'once')
      })
    })

    test('ctx.body of a form says what reads it', async () => {
      const app = kit.app()
      app.post('/body', (ctx) => String(ctx.body))
      await kit.serve(app, async (live) => {
        const reply = await live.post('/body', type, end)
        assert.equal(reply.status, 415)
        assert.match(reply.text, /ctx\.form\(\).*ctx\.parts\(\)/)
      })
    })
  })
}

/** How many files and sockets this process has open; 0 where the system does not say. */
function descriptors(): number {
  return process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0
}
