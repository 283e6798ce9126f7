/** In production, behind a proxy that ends TLS, the headers of every kind of reply pass what scanners look at. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { type Asked, headerFaults } from '@volant/test-kit'
import { reference } from '../src/profiles/reference.ts'

const folder = mkdtempSync(join(tmpdir(), 'headers-'))
after(() => rmSync(folder, { recursive: true }))

const authorization = 'Bearer secret'

for (const publicDocs of [false, true]) {
  test(`nothing is found, with docs ${publicDocs ? 'public' : 'for the token'}`, async () => {
    const settings = {
      database: join(folder, `${publicDocs}.db`),
      token: 'secret',
      publicDocs,
      maxEventLoopDelay: 9_999, // a busy machine refuses no request here
    }
    const app = reference({ signals: false, trustProxy: true }, settings)
    const found: string[] = []
    const check = async (
      status: number,
      url: string,
      {
        method = 'GET',
        headers = {},
        body,
        ...asked
      }: Partial<Asked> & { headers?: Record<string, string>; body?: string } = {},
    ) => {
      // Replies to localhost have no Strict-Transport-Security, so the request names another host.
      const sent = { host: 'service.example', 'x-forwarded-proto': 'https', ...headers }
      const reply = await app.inject({ method, url, headers: sent, ...(body === undefined ? {} : { body }) })
      assert.equal(reply.status, status, `${method} ${url}`)
      const { 'set-cookie': cookies = [], ...others } = reply.headers
      const raw = [...Object.entries(others), ...cookies.map((cookie) => ['set-cookie', cookie] as const)]
      const authenticated = 'authorization' in headers
      const faults = headerFaults({ status, raw }, { method, encrypted: true, authenticated, ...asked })
      for (const fault of faults) found.push(`${method} ${url} ${status}: ${fault}`)
      return reply
    }
    const guarded = ['/metrics', '/metrics.json', '/api/health', '/debug/memory']
    const docs = [
      '/',
      '/page/live.js',
      '/docs',
      '/docs/reference.js',
      '/openapi.json',
      '/openapi.yaml',
      '/client.json',
    ]
    for (const method of ['GET', 'HEAD']) {
      for (const url of ['/health', '/ready', '/json', '/api/users', ...(publicDocs ? docs : [])])
        await check(200, url, { method })
      await check(200, '/badge/build/passing.svg', { method, embeddable: true })
      for (const url of ['/none', '/page/none.js'].slice(0, publicDocs ? 2 : 1))
        await check(404, url, { method })
      for (const url of publicDocs ? guarded : [...guarded, ...docs]) {
        await check(401, url, { method })
        await check(200, url, { method, headers: { authorization } })
      }
    }
    await check(405, '/json', { method: 'DELETE' })
    await check(400, '/api/users', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{',
    })
    const user = JSON.stringify({ name: 'Ada', email: 'ada@example.com', age: 36 })
    await check(201, '/api/users', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: user,
    })
    await check(401, '/api/users/1')
    await check(200, '/api/users/1', { headers: { authorization } })
    await check(404, '/api/users/999999', { headers: { authorization } })
    const preflight = { origin: 'https://evil.example', 'access-control-request-method': 'POST' }
    await check(204, '/api/users', { method: 'OPTIONS', headers: preflight, strangeOrigin: preflight.origin })
    const own: Record<string, string> = publicDocs ? {} : { authorization }
    const { headers } = await check(200, '/page/live.js', { headers: own })
    await check(304, '/page/live.js', { headers: { ...own, 'if-none-match': headers['etag'] as string } })
    assert.deepEqual(found, [])
    await app.close({ drainIdle: 0 })
  })
}
