/** `ctx.parts()`: the parts of a form as they arrive, in memory and in files. */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { type App, type Context, createApp, type FormPart } from 'volant'
import { ask, field, form, type } from './kit.ts'

const folder = mkdtempSync(join(tmpdir(), 'forms-'))

after(() => rmSync(folder, { recursive: true }))

describe('ctx.parts()', () => {
  const photo = () => {
    const data = new FormData()
    data.append('title', 'one')
    data.append('photo', new File(['x'.repeat(500_000)], 'photo.jpg', { type: 'image/jpeg' }))
    data.append('last', 'two')
    return data
  }

  /** Has a handler read the form of `photo()`. */
  async function read(handler: Parameters<App['post']>[2], bodyMode: 'buffer' | 'stream' = 'stream') {
    const errors: unknown[] = []
    const app = createApp({ signals: false, report: (error) => void errors.push(error) })
    app.post('/f', { bodyMode }, handler as never)
    const reply = await ask(app, photo())
    assert.deepEqual(errors, [])
    return reply
  }

  for (const bodyMode of ['buffer', 'stream'] as const) {
    test(`each way to read a part (${bodyMode})`, async () => {
      const reply = await read(async (ctx: Context) => {
        const seen: unknown[] = []
        for await (const part of ctx.parts()) {
          const { name, filename, type, headers } = part
          const length =
            name === 'title'
              ? await part.text()
              : name === 'last'
                ? String(await part.bytes())
                : await lengthOf(part)
          seen.push([name, filename, type, Object.keys(headers).length, length])
        }
        return seen
      }, bodyMode)
      assert.deepEqual(
        reply,
        [
          ['title', undefined, 'text/plain', 1, 'one'],
          ['photo', 'photo.jpg', 'image/jpeg', 2, 500_000],
          ['last', undefined, 'text/plain', 1, 'two'],
        ].map((row) => row.map((each) => each ?? null)),
      )
    })
  }

  test('a part that is not read, or not to its end, is thrown away', async () => {
    const reply = await read(async (ctx: Context) => {
      const names: string[] = []
      for await (const part of ctx.parts()) {
        names.push(part.name)
        if (part.name === 'photo') for await (const chunk of part) if (chunk.length > 0) break
      }
      return names
    })
    assert.deepEqual(reply, ['title', 'photo', 'last'])
  })

  test('a part cannot be read once the next one was asked for, and is read once', async () => {
    const reply = await read(async (ctx: Context) => {
      const parts = ctx.parts()
      const { value: first } = await parts.next()
      assert.equal(await first?.text(), 'one')
      await assert.rejects(async () => first?.text(), { code: 'E_BODY_USED' })
      const { value: second } = await parts.next()
      await assert.rejects(async () => first?.bytes(), { code: 'E_BODY_USED' })
      const reading = second?.bytes()
      const { value: third } = await parts.next()
      assert.equal((await reading)?.length, 500_000, 'the next part waits for what reads a whole one')
      await assert.rejects(async () => second?.text(), { code: 'E_BODY_USED' })
      assert.equal(await third?.text(), 'two')
      assert.deepEqual(await parts.next(), { done: true, value: undefined })
      return []
    })
    assert.deepEqual(reply, [])
  })

  for (const bodyMode of ['buffer', 'stream'] as const) {
    test(`what reads a part while another does is refused (${bodyMode})`, async () => {
      const reply = await read(async (ctx: Context) => {
        const lengths: unknown[] = []
        for await (const part of ctx.parts()) {
          const bytes = part.bytes()
          for (const other of [part.text(), part.toFile(folder)]) {
            await assert.rejects(other, { code: 'E_BODY_USED' })
          }
          lengths.push((await bytes).length)
        }
        return lengths
      }, bodyMode)
      assert.deepEqual(reply, [3, 500_000, 3])
    })
  }

  for (const way of ['bytes', 'text', 'toFile'] as const) {
    test(`${way}() that would be awaited after the loop ends no process when the form breaks off`, async (t) => {
      const unhandled: unknown[] = []
      const listener = (error: unknown): void => void unhandled.push(error)
      process.on('unhandledRejection', listener)
      t.after(() => process.off('unhandledRejection', listener))
      const app = createApp({ signals: false, report: () => {} })
      app.post('/f', { bodyMode: 'stream' }, async (ctx) => {
        const work: unknown[] = []
        for await (const part of ctx.parts()) work.push(way === 'toFile' ? part.toFile(folder) : part[way]())
        return Promise.all(work)
      })
      const body = '--b\r\nContent-Disposition: form-data; name=a\r\n\r\nthe rest is miss'
      const [status] = (await ask(app, body, type('b'))) as unknown[]
      assert.equal(status, 400)
      await new Promise((resolve) => setImmediate(resolve))
      assert.deepEqual(unhandled, [])
    })
  }

  test('one reader of chunks at a time, whom the next part waits for', async () => {
    const reply = await read(async (ctx: Context) => {
      const parts = ctx.parts()
      await parts.next()
      const { value: photo } = await parts.next()
      const [one, two] = [photo?.[Symbol.asyncIterator](), photo?.[Symbol.asyncIterator]()]
      // The chunk that is there is given at once, and the second is waited for.
      assert.ok((await one?.next())?.value instanceof Uint8Array)
      const pending = one?.next()
      const refused = assert.rejects(async () => two?.next(), { code: 'E_BODY_USED' })
      const { value: last } = await parts.next()
      assert.ok((await pending)?.value instanceof Uint8Array)
      await refused
      await assert.rejects(async () => one?.next(), { code: 'E_BODY_USED' })
      return [await last?.text()]
    })
    assert.deepEqual(reply, ['two'])
  })

  test('the body is read once', async () => {
    await read(async (ctx: Context) => {
      for await (const { name } of ctx.parts()) void name
      await assert.rejects(ctx.parts().next(), { code: 'E_BODY_USED' })
      await assert.rejects(ctx.form(), { code: 'E_BODY_USED' })
      assert.throws(() => ctx.body, { code: 'E_BODY_STREAMED' })
      return []
    })
  })

  test('to files: random names that only this user may read', async () => {
    const reply = (await read(async (ctx: Context) => {
      const saved: unknown[] = []
      for await (const part of ctx.parts())
        saved.push(await part.toFile(part.name === 'last' ? pathToFileURL(folder) : folder))
      return saved
    })) as unknown as { path: string; size: number }[]
    assert.deepEqual(
      reply.map(({ size }) => size),
      [3, 500_000, 3],
    )
    for (const { path, size } of reply) {
      assert.equal(dirname(path), folder)
      assert.match(path.slice(folder.length + 1), /^[0-9a-f-]{36}$/)
      assert.equal(statSync(path).mode & 0o777, 0o600)
      assert.equal(readFileSync(path).length, size)
      rmSync(path)
    }
  })

  test('a form that fails removes the files that it wrote', async () => {
    const app = createApp({ signals: false })
    app.post('/f', { bodyMode: 'stream' }, async (ctx) => {
      for await (const part of ctx.parts()) await part.toFile(folder)
    })
    const bad = form(field('a', '1'), field('b', '2'), '--b\r\nX\r\n\r\n')
    assert.deepEqual(((await ask(app, bad, type('b'))) as unknown[])[0], 400)
    const large = form(field('a', '1'), field('b', 'x'.repeat(70_000)))
    assert.deepEqual(((await ask(app, large, type('b'))) as unknown[])[0], 413)
    assert.deepEqual(readdirSync(folder), [])
  })

  test('a folder that is not there is an error of the program', async () => {
    const errors: unknown[] = []
    const app = createApp({ signals: false, report: (error) => void errors.push(error) })
    app.post('/f', { bodyMode: 'stream' }, async (ctx) => {
      for await (const part of ctx.parts()) await part.toFile(join(folder, 'none'))
    })
    assert.equal(((await ask(app, photo())) as unknown[])[0], 500)
    assert.equal((errors[0] as NodeJS.ErrnoException).code, 'ENOENT')
  })
})

async function lengthOf(part: FormPart): Promise<number> {
  let length = 0
  for await (const chunk of part.stream) length += chunk.length
  return length
}
