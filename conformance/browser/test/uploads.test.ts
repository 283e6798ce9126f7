/** Tests what pages send: forms, and uploads that they watch. */
import assert from 'node:assert/strict'
import { deferred } from '@volant/test-kit'
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
