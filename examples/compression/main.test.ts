import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { after, test } from 'node:test'
import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'

process.env.PORT = '0'
const { app, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))

interface Reply {
  status: number
  headers: Record<string, string | string[] | undefined>
  bytes: Buffer
}

/** `fetch` decodes what it gets and adds fields of its own. */
async function ask(path: string, headers: Record<string, string> = {}): Promise<Reply> {
  const [reply] = (await once(request(url + path, { headers, agent: false }).end(), 'response')) as [
    IncomingMessage,
  ]
  const parts: Buffer[] = []
  for await (const part of reply) parts.push(part as Buffer)
  return { status: reply.statusCode as number, headers: reply.headers, bytes: Buffer.concat(parts) }
}

test('text is compressed for who accepts it, and its tag is weak', async () => {
  const plain = await ask('/prices')
  assert.deepEqual([plain.headers['content-encoding'], plain.headers.vary], [undefined, 'Accept-Encoding'])
  const strong = plain.headers.etag as string
  assert.match(strong, /^"/)
  for (const [accepted, coding, decode] of [
    ['gzip', 'gzip', gunzipSync],
    ['gzip, br', 'br', brotliDecompressSync],
  ] as const) {
    const { headers, bytes } = await ask('/prices', { 'accept-encoding': accepted })
    assert.deepEqual(
      [headers['content-encoding'], headers.vary, headers.etag],
      [coding, 'Accept-Encoding', `W/${strong}`],
    )
    assert.deepEqual(decode(bytes), plain.bytes)
    const same = await ask('/prices', { 'accept-encoding': accepted, 'if-none-match': `W/${strong}` })
    assert.deepEqual([same.status, same.bytes.length], [304, 0])
  }
})

test('short replies and routes that say no are as they were', async () => {
  for (const path of ['/short', `/form?q=${'x'.repeat(2_000)}`]) {
    const { headers } = await ask(path, { 'accept-encoding': 'gzip' })
    assert.deepEqual([headers['content-encoding'], headers.vary], [undefined, undefined])
  }
})

test('a stream is compressed as it comes', async () => {
  const { headers, bytes } = await ask('/log', { 'accept-encoding': 'gzip' })
  assert.equal(headers['content-encoding'], 'gzip')
  assert.equal(gunzipSync(bytes).toString(), 'line 0\nline 1\nline 2\n')
})

test('a compressed body is read by the route that asks for it', async () => {
  const post = (path: string): Promise<Response> =>
    fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
      body: gzipSync('[1,2,3]'),
    })
  assert.deepEqual(await (await post('/import')).json(), { rows: 3 })
})
