import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { contract } from 'volant'
import { createClient } from 'volant/client'
import { z } from 'zod'
import { type Kit, request } from '../../kit.ts'
import { type, part, end, whole, savedForms } from './kit.ts'

export function formsAreRead(kit: Kit): void {
  describe('forms', () => {
    const { folder, saving } = savedForms(kit)

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
