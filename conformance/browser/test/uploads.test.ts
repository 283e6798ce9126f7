/** Tests what pages send: forms, and uploads that they watch. */
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { readdir, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { deferred, eventually } from '@volant/test-kit'
import type { Form } from 'volant'
import { html, visit } from '../src/browser.ts'

const mebibyte = 2 ** 20

visit('a page watches the progress of its upload, and is told what came', async ({ app, serve, page }) => {
  const site = app()
  const half = deferred()
  site.get('/', (ctx) => ctx.html(html()))
  site.post('/upload', { bodyMode: 'stream', maxBodySize: 16 * mebibyte }, async (ctx) => {
    let bytes = 0
    for await (const chunk of ctx.bodyStream) {
      bytes += chunk.length
      // The second half is read when the page has seen that a part was sent.
      if (bytes >= 4 * mebibyte) await half.promise
    }
    return { bytes }
  })
  await page.exposeFunction('seen', () => half.resolve())
  await page.goto(await serve(site))
  const { loads, total, reply } = await page.evaluate(
    (size) =>
      new Promise<{ loads: number[]; total: number; reply: string }>((resolve, reject) => {
        const request = new XMLHttpRequest()
        const loads: number[] = []
        request.upload.onprogress = ({ loaded }) => {
          loads.push(loaded)
          if (loaded > 0) (window as unknown as { seen(): void }).seen()
        }
        request.upload.onload = ({ total }) => {
          request.onload = () => resolve({ loads, total, reply: request.responseText })
        }
        request.onerror = reject
        request.open('POST', '/upload')
        request.send(new Blob([new Uint8Array(size)]))
      }),
    16 * mebibyte,
  )
  assert.deepEqual(JSON.parse(reply), { bytes: 16 * mebibyte })
  assert.equal(total, 16 * mebibyte)
  assert.ok(loads.length >= 2, String(loads))
  assert.deepEqual(
    loads,
    loads.toSorted((one, other) => one - other),
  )
})

visit('ctx.form() reads what a form of a page sends', async ({ app, serve, page, folder }) => {
  const site = app()
  const path = join(folder, 'räksmörgås "1".txt')
  await writeFile(path, 'Ada')
  const controls = ['name="title"', 'name="tag" value="a"', 'name="tag" value="b"', 'type="file" name="none"']
  const inputs = [...controls, 'type="file" name="cover"'].map((attributes) => `<input ${attributes}>`)
  const form = (type: string) =>
    html(`<form method="post" enctype="${type}">${inputs.join('')}<button>Send</button></form>`)
  site.get('/multipart', (ctx) => ctx.html(form('multipart/form-data')))
  site.get('/urlencoded', (ctx) => ctx.html(form('application/x-www-form-urlencoded')))
  const seen: Form[] = []
  for (const pattern of ['/multipart', '/urlencoded'] as const) {
    site.post(pattern, async (ctx) => {
      seen.push(await ctx.form())
      ctx.html(html('<p>received</p>'))
    })
  }
  const url = await serve(site)
  const title = 'Grüße, "a" & b = 100 %'
  for (const pattern of ['/multipart', '/urlencoded']) {
    await page.goto(url + pattern)
    await page.fill('input[name=title]', title)
    await page.setInputFiles('input[name=cover]', path)
    await page.click('button')
    await page.waitForSelector('p')
  }
  const [multipart, urlencoded] = seen as [Form, Form]
  const { cover, ...fields } = multipart
  assert.deepEqual({ ...fields }, { title, tag: ['a', 'b'] })
  assert.ok(cover instanceof File)
  assert.deepEqual(
    [cover.name.normalize(), cover.type, await cover.text()],
    [basename(path), 'text/plain', 'Ada'],
  )
  // Of files this type has the names alone.
  assert.deepEqual({ ...urlencoded }, { title, tag: ['a', 'b'], none: '', cover: basename(path) })
})

visit(
  'ctx.parts() writes a file that a page sends, and a large one is refused',
  async ({ app, serve, page, folder }) => {
    const site = app()
    site.get('/', (ctx) => ctx.html(html()))
    const options = { bodyMode: 'stream', maxBodySize: 64 * mebibyte, maxFileSize: 8 * mebibyte } as const
    site.post('/upload', options, async (ctx) => {
      const sizes: number[] = []
      for await (const part of ctx.parts()) sizes.push((await part.toFile(folder)).size)
      return { sizes }
    })
    await page.goto(await serve(site))
    const seen = await page.evaluate(async (most) => {
      const replies: unknown[] = []
      for (const size of [most, most + 1]) {
        const body = new FormData()
        body.set('file', new File([new Uint8Array(size)], 'a.bin'))
        const reply = await fetch('/upload', { method: 'POST', body })
        const { sizes, code } = await reply.json()
        replies.push([reply.status, sizes ?? code])
      }
      return replies
    }, options.maxFileSize)
    assert.deepEqual(seen, [
      [200, [options.maxFileSize]],
      [413, 'E_FORM_TOO_LARGE'],
    ])
    assert.equal((await readdir(folder)).length, 1)
  },
)

visit('an upload that the page aborts leaves no file', async ({ app, serve, context, page, folder }) => {
  const site = app()
  const outcome = deferred<unknown>()
  const begun = deferred()
  site.get('/', (ctx) => ctx.html(html()))
  site.post('/upload', { bodyMode: 'stream', maxBodySize: 64 * mebibyte }, async (ctx) => {
    try {
      for await (const part of ctx.parts()) {
        const saved = part.toFile(folder)
        await eventually(() => readdirSync(folder).length === 1, 'a file')
        begun.resolve()
        await saved
      }
    } catch (error) {
      outcome.resolve((error as { code: unknown }).code)
    }
  })
  await page.goto(await serve(site))
  // The whole file takes more than two minutes, so that it is on its way when the page aborts it.
  const conditions = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 64 * 1024 }
  await (await context.newCDPSession(page)).send('Network.emulateNetworkConditions', conditions)
  await page.evaluate(() => {
    const body = new FormData()
    body.set('file', new File([new Uint8Array(9 * 2 ** 20)], 'a.bin'))
    const controller = new AbortController()
    Object.assign(window, { stop: () => controller.abort() })
    void fetch('/upload', { method: 'POST', body, signal: controller.signal }).catch(() => {})
  })
  await begun.promise
  await page.evaluate(() => (window as unknown as { stop(): void }).stop())
  assert.equal(await outcome.promise, 'E_ABORTED')
  assert.deepEqual(await readdir(folder), [])
})
