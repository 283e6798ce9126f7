import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname } from 'node:path'
import { after, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'

process.env.PORT = '0'
const { app, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))

const photo = new File(['PNG'], 'tom.png', { type: 'image/png' })

async function post(path: string, values: Record<string, string | File>) {
  const body = new FormData()
  for (const [name, value] of Object.entries(values)) body.append(name, value)
  const reply = await fetch(url + path, { method: 'POST', body })
  return [reply.status, await reply.json()] as [number, Record<string, any>]
}

test('a small form is checked by its schema', async () => {
  const cat = { name: 'Tom', age: 3, photo: 'tom.png', bytes: 3 }
  assert.deepEqual(await post('/cats', { name: 'Tom', age: '3', photo }), [200, cat])
  const [status, { errors }] = await post('/cats', { name: '', age: 'x', photo: 'no file' })
  assert.equal(status, 400)
  assert.deepEqual(
    errors.map(({ pointer }: { pointer: string }) => pointer),
    ['#/name', '#/age', '#/photo'],
  )
  const text = new File(['text'], 'tom.txt', { type: 'text/plain' })
  assert.equal((await post('/cats', { name: 'Tom', age: '3', photo: text }))[0], 400)
  assert.equal((await post('/cats', { name: 'Tom', age: '3', photo: 'x'.repeat(70_000) }))[0], 413)
})

test('a video goes to disk as it arrives, and one that breaks off leaves nothing there', async () => {
  const film = new File([Buffer.alloc(20_000_000, 'x')], '../film.mp4')
  const [status, { files }] = await post('/videos', { title: 'A film', film })
  assert.equal(status, 200)
  const [{ name, path, size }] = files
  assert.deepEqual([name, size, statSync(path).size], ['film.mp4', 20_000_000, 20_000_000])
  const folder = dirname(path)
  assert.equal(readdirSync(folder).length, 1)

  const { port, hostname } = new URL(url)
  const socket = connect(Number(port), hostname.replace(/[[\]]/g, ''))
  socket.on('error', () => {})
  const part = '--b\r\nContent-Disposition: form-data; name="film"; filename="f"\r\n\r\n'
  socket.write(
    `POST /videos HTTP/1.1\r\nHost: h\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000000\r\n\r\n${part}${'x'.repeat(500_000)}`,
  )
  while (readdirSync(folder).length < 2) await turn()
  socket.destroy()
  while (readdirSync(folder).length > 1) await turn()
  assert.ok(existsSync(path))
})

test('a part is a stream', async () => {
  const sum = createHash('sha256').update('PNG').digest('hex')
  assert.deepEqual(await post('/hashes', { photo }), [200, { photo: sum }])
})

test('an upload past the limit is refused', async () => {
  const headers = { 'content-type': 'multipart/form-data; boundary=b', 'content-length': String(2 ** 30 + 1) }
  assert.equal((await app.inject({ method: 'POST', url: '/videos', headers })).status, 413)
})
