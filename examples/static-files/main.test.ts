import assert from 'node:assert/strict'
import { after, test } from 'node:test'

process.env.PORT = '0'
const { app, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))

test('a file, with its type', async () => {
  const page = await fetch(url)
  assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8')
  assert.match(await page.text(), /<h1>Hello/)
  const style = await fetch(`${url}/assets/style.css`)
  assert.equal(style.headers.get('content-type'), 'text/css; charset=utf-8')
  assert.equal(style.headers.get('cache-control'), 'public, max-age=3600')
})

test('a copy that is still good is not sent again', async () => {
  const first = await fetch(`${url}/assets/style.css`)
  const etag = first.headers.get('etag') ?? ''
  const second = await fetch(`${url}/assets/style.css`, { headers: { 'if-none-match': etag } })
  assert.equal(second.status, 304)
})

test('part of a file', async () => {
  const reply = await fetch(`${url}/assets/style.css`, { headers: { range: 'bytes=0-1' } })
  assert.equal(reply.status, 206)
  assert.match(reply.headers.get('content-range') ?? '', /^bytes 0-1\/\d+$/)
  assert.equal(await reply.text(), 'h1')
})

test('what is not there, or not in the folder, is 404', async () => {
  for (const path of ['/assets/none.css', '/assets/..%2Fmain.ts', '/assets/.hidden']) {
    assert.equal((await fetch(url + path)).status, 404)
  }
})

test('a download', async () => {
  const reply = await fetch(`${url}/style/download`)
  assert.equal(reply.headers.get('content-disposition'), 'attachment; filename="our style.css"')
})
