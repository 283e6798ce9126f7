import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Context, FileOptions, VolantError } from 'volant'
import { type Kit } from '../../kit.ts'
import { type Folder, hello } from './folder.ts'

export function downloadsOfFiles(kit: Kit, { root, serve }: Folder): void {
  const downloads: [string | true, string][] = [
    [true, 'attachment; filename="a.txt"'],
    ['report 2024.pdf', 'attachment; filename="report 2024.pdf"'],
    ['naïve "x".txt', `attachment; filename="na_ve _x_.txt"; filename*=UTF-8''na%C3%AFve%20%22x%22.txt`],
    ['€\r\nx: y.txt', `attachment; filename="___x: y.txt"; filename*=UTF-8''%E2%82%AC%0D%0Ax%3A%20y.txt`],
    ['../../etc/passwd', 'attachment; filename="passwd"'],
    ['C:\\x\\100%.txt', `attachment; filename="100_.txt"; filename*=UTF-8''100%25.txt`],
    [
      "it's (1)*.txt\ud800",
      `attachment; filename="it's (1)*.txt_"; filename*=UTF-8''it%27s%20%281%29%2a.txt%EF%BF%BD`,
    ],
    ['/', 'attachment; filename="download"'],
  ]

  test('download names', async () => {
    const app = kit.app()
    downloads.forEach(([download], index) =>
      app.get(`/${index}`, (ctx) => ctx.file(join(root, 'a.txt'), { download })),
    )
    await kit.serve(app, async (live) => {
      for (const [index, [, expected]] of downloads.entries()) {
        const reply = await live.ask(`/${index}`)
        assert.equal(reply.headers['content-disposition'], expected)
        assert.equal(reply.text, hello)
      }
    })
  })

  test('a name without a dot is no extension', async () => {
    writeFileSync(join(root, 'html'), '<script>1</script>')
    await serve(async (live) => {
      assert.equal((await live.ask('/f/html')).headers['content-type'], 'application/octet-stream')
    })
  })

  test('a content type of its own', async () => {
    const app = kit.app()
    app.get('/option', (ctx) => ctx.file(join(root, 'a.txt'), { type: 'text/x-a' }))
    app.get('/header', (ctx) => ctx.header('content-type', 'text/x-b').file(join(root, 'a.txt')))
    app.get('/bad', (ctx) => ctx.file(join(root, 'a.txt'), { type: 'a\r\nx: y' }))
    await kit.serve(app, async (live) => {
      assert.equal((await live.ask('/option')).headers['content-type'], 'text/x-a')
      assert.equal((await live.ask('/header')).headers['content-type'], 'text/x-b')
      assert.equal((await live.ask('/bad')).status, 500)
      assert.equal((kit.reports.pop() as VolantError).code, 'E_BAD_HEADER')
    })
  })

  const refused: [string, (ctx: Context) => unknown][] = [
    ['file: path', (ctx) => ctx.file('')],
    ['file: path', (ctx) => ctx.file(5 as unknown as string)],
    ['file: path', (ctx) => ctx.file(new URL('http://x/a.txt'))],
    ['file', (ctx) => ctx.file('a', null as unknown as FileOptions)],
    ['ctx.file has no option "maxAge"', (ctx) => ctx.file('a', { maxAge: 5 } as FileOptions)],
    ['file: root', (ctx) => ctx.file('a', { root: '' })],
    ['file: root', (ctx) => ctx.file(new URL('file:///a'), { root })],
    ['file: dotfiles', (ctx) => ctx.file('a', { dotfiles: 'allow' as unknown as boolean })],
    ['file: download', (ctx) => ctx.file('a', { download: false as unknown as true })],
    ['file: type', (ctx) => ctx.file('a', { type: 5 as unknown as string })],
  ]

  test('options that make no sense are refused by name', async () => {
    const app = kit.app()
    refused.forEach(([, call], index) => app.get(`/${index}`, call))
    await kit.serve(app, async (live) => {
      for (const [index, [name]] of refused.entries()) {
        assert.equal((await live.ask(`/${index}`)).status, 500)
        const error = kit.reports.pop() as VolantError
        assert.equal(error.code, 'E_BAD_OPTION')
        assert.ok(error.message.startsWith(name), error.message)
      }
    })
  })
}
