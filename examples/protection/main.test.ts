import assert from 'node:assert/strict'
import { after, test } from 'node:test'

process.env.PORT = '0'
process.env.MAX_DELAY = '9999' // a busy machine refuses no request here
const { app, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))

const secure = { 'x-forwarded-host': 'shop.example', 'x-forwarded-proto': 'https' }
const ask = (path: string, headers: Record<string, string> = {}) =>
  fetch(url + path, { redirect: 'manual', headers: { ...secure, ...headers } })

test('books are kept for a minute, and say what they took', async () => {
  const reply = await ask('/books')
  assert.deepEqual(await reply.json(), ['Emma', 'Persuasion'])
  assert.equal(reply.headers.get('cache-control'), 'public, max-age=60, stale-while-revalidate=600')
  assert.match(reply.headers.get('server-timing') ?? '', /^db;dur=[\d.]+, total;dur=[\d.]+$/)
})

test('other hosts are refused, and http: is not served', async () => {
  assert.equal((await ask('/books', { 'x-forwarded-host': 'evil.example' })).status, 421)
  const plain = await ask('/books?page=2', { 'x-forwarded-proto': 'http' })
  assert.deepEqual([plain.status, plain.headers.get('location')], [308, 'https://shop.example/books?page=2'])
  assert.equal((await fetch(`${url}/health`)).status, 200)
})

test('a slash at the end is removed', async () => {
  const reply = await ask('/books/')
  assert.deepEqual([reply.status, reply.headers.get('location')], [308, '/books'])
})

test('strangers see no load', async () => {
  assert.equal((await ask('/admin/load', { 'x-forwarded-for': '192.0.2.1' })).status, 403)
  const own = await ask('/admin/load', { 'x-forwarded-for': '10.0.0.7' })
  assert.equal(((await own.json()) as { inFlight: number }).inFlight, 1)
  assert.equal(own.headers.get('cache-control'), 'no-store')
})

test('reports of browsers are taken', async () => {
  const reply = await fetch(`${url}/csp-reports`, {
    method: 'POST',
    headers: { ...secure, 'content-type': 'application/csp-report' },
    body: '{"csp-report":{"effective-directive":"img-src"}}',
  })
  assert.equal(reply.status, 204)
})
