/** The service behind nginx, with the file of the example. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { eventually, freePort } from '@volant/test-kit'
import { fileOf } from './deployed.ts'

process.env.PORT = '0'
const { app, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))

const env = { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/usr/local/sbin` }
const withoutNginx =
  spawnSync('nginx', ['-v'], { env }).error === undefined ? false : 'nginx is not installed'

describe('nginx.conf', { skip: withoutNginx }, async () => {
  if (withoutNginx !== false) return
  const folder = mkdtempSync(join(tmpdir(), 'volant-nginx-'))
  const port = await freePort()
  const at = `http://127.0.0.1:${port}`
  // Without TLS, for which it would need a certificate, and with the port of the app.
  const site = fileOf('nginx.conf')
    .replace(/^ +(?:listen|http2|ssl_certificate(?:_key)?) .*\n/gm, '')
    .replace('server {', `server {\n  listen 127.0.0.1:${port};`)
    .replace('server 127.0.0.1:3000', `server 127.0.0.1:${new URL(url).port}`)
  // The same site as it is without `proxy_buffering off`: events still arrive, since their reply asks for it.
  const buffering = await freePort()
  const other = site
    .slice(site.indexOf('\nserver {'))
    .replace(`listen 127.0.0.1:${port};`, `listen 127.0.0.1:${buffering};`)
    .replace('proxy_buffering off;', 'proxy_buffering on;')
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off; master_process off; pid nginx.pid; error_log stderr crit; events {}
http { access_log off; ${temporary.map((name) => `${name}_temp_path ${name};`).join(' ')}
${site}${other}}`,
  )
  const options = ['-p', folder, '-c', 'nginx.conf']
  const checked = spawnSync('nginx', [...options, '-t'], { env, encoding: 'utf8' })
  assert.equal(checked.status, 0, checked.stderr)
  const nginx = spawn('nginx', options, { stdio: ['ignore', 'ignore', 'inherit'], env })
  after(async () => {
    nginx.kill()
    if (nginx.exitCode === null) await once(nginx, 'exit')
    rmSync(folder, { recursive: true })
  })
  await eventually(async () => nginx.exitCode !== null || (await accepts(port)), 'nginx listens')

  test('the app knows who asks', async () => {
    const reply = await fetch(at, {
      headers: { 'x-forwarded-for': '203.0.113.7', 'x-forwarded-host': 'evil.example' },
    })
    // nginx adds the address of its own client, which is on this machine and so trusted as well.
    assert.deepEqual(await reply.json(), { ip: '203.0.113.7', protocol: 'http', host: '127.0.0.1' })
  })

  test('replies are compressed, JSON too', async () => {
    const reply = await fetch(`${at}/prices`, { headers: { 'accept-encoding': 'gzip' } })
    assert.equal(reply.headers.get('content-encoding'), 'gzip')
    assert.equal(((await reply.json()) as object[]).length, 200)
  })

  test('a stream arrives part by part', async () => {
    const cancel = new AbortController()
    const reply = await fetch(`${at}/ticks`, { signal: cancel.signal })
    const reader = (reply.body as ReadableStream<Uint8Array>).getReader()
    const { value } = await reader.read()
    assert.match(Buffer.from(value as Uint8Array).toString(), /^tick 0\n/)
    cancel.abort()
  })

  for (const [name, origin] of [
    ['', at],
    [', also where nginx buffers', `http://127.0.0.1:${buffering}`],
  ] as const) {
    test(`events arrive one by one, as they are, for a client that takes gzip${name}`, async () => {
      const cancel = new AbortController()
      const headers = { 'accept-encoding': 'gzip' }
      const reply = await fetch(`${origin}/events`, { headers, signal: cancel.signal })
      assert.equal(reply.headers.get('content-encoding'), null)
      assert.equal(reply.headers.get('cache-control'), 'no-cache, no-transform')
      const reader = (reply.body as ReadableStream<Uint8Array>).getReader()
      let text = ''
      while (!text.includes('id: 0\nevent: tick\ndata: {"id":0}\n\n'))
        text += Buffer.from((await reader.read()).value ?? '').toString()
      // nginx gathers 1,460 bytes at least where it does: 38 events, and 100 ms lie between two.
      const events = text.split('event: tick').length - 1
      assert.ok(events < 30, `${events} events came together`)
      assert.match(text, /^:\n\nid: 0\nevent: tick\ndata: {"id":0}\n\n/)
      cancel.abort()
    })
  }
})

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })
}
