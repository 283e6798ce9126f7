import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:http2'
import { get } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const folder = mkdtempSync(join(tmpdir(), 'volant-https-'))
const command = fileURLToPath(new URL('bin.js', import.meta.resolve('volant')))
assert.equal(spawnSync(process.execPath, [command, 'cert', '--out', folder]).status, 0)
const ca = readFileSync(join(folder, 'ca.pem'))

process.env.PORT = '0'
process.env.CERTIFICATES = folder
const { app, url } = await import('./main.ts')
after(async () => {
  await app.close({ drainIdle: 0 })
  rmSync(folder, { recursive: true })
})

test('a client of HTTP/1.1 is served', async () => {
  const text = await new Promise<string>((resolve, reject) => {
    get(url, { ca, agent: false }, (response) => {
      response.on('data', (chunk: Buffer) => resolve(chunk.toString()))
    }).on('error', reject)
  })
  assert.deepEqual(JSON.parse(text), { http: '1.1', protocol: 'https', tls: 'TLSv1.3' })
})

test('a client of HTTP/2 is served at the same port', async () => {
  const client = connect(url, { ca })
  let text = ''
  for await (const chunk of client.request({ ':path': '/' })) text += String(chunk)
  client.close()
  assert.deepEqual(JSON.parse(text), { http: '2', protocol: 'https', tls: 'TLSv1.3' })
})
