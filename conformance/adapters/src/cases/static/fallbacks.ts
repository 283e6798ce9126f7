import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib'
import type { Kit } from '../../kit.ts'
import { publicFolder } from './folder.ts'

/** The fallback of a single-page app. */
export function staticFallbacks(kit: Kit): void {
  describe('static folders', () => {
    const { root, serve } = publicFolder(kit)

    test('the fallback of a single-page app', async () => {
      await serve(
        (app) => {
          app.get('/api/users', () => [])
          app.static('/', root, { fallback: 'index.html', immutable: true })
        },
        async (live) => {
          const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
          for (let times = 0; times < 2; times++) {
            for (const [path, headers, status] of [
              ['/users/7', html, 200],
              ['/users/7/', html, 200],
              ['/v1.2/users', html, 200],
              ['/users/7', {}, 200],
              ['/users/7', { ...html, 'sec-fetch-dest': 'document' }, 200],
              ['/users/7', { ...html, 'sec-fetch-dest': 'empty' }, 404],
              ['/users/7', { ...html, 'sec-fetch-dest': 'script' }, 404],
              ['/users/7', { accept: 'application/json' }, 404],
              ['/users/7', { accept: 'text/html;q=0' }, 404],
              ['/users/me.js', html, 404],
              ['/.env', html, 404],
              ['/users%2F7', html, 404],
              ['/api/users', html, 200],
            ] as [string, Record<string, string>, number][]) {
              const reply = await live.ask(path, { headers })
              assert.equal(reply.status, status, `${path} ${JSON.stringify(headers)}`)
              if (path === '/users/7') assert.equal(reply.headers['vary'], 'accept, sec-fetch-dest')
              if (status === 404 || path === '/api/users') continue
              assert.equal(reply.text, '<h1>index</h1>')
              assert.equal(reply.headers['cache-control'], 'no-cache')
            }
            assert.equal((await live.ask('/users/7', { method: 'HEAD' })).headers['content-length'], '14')
            assert.equal((await live.ask('/users/7', { method: 'POST' })).status, 405)
            assert.equal(
              (await live.ask('/app.js')).headers['cache-control'],
              'public, max-age=31536000, immutable',
            )
            assert.equal((await live.ask('/')).headers['cache-control'], 'public, max-age=0')
          }
        },
      )
    })

    test('a fallback that is too large to be kept, beside a copy that is kept', async () => {
      const page = '<p>'.repeat(30_000)
      writeFileSync(join(root, 'page.html'), page)
      writeFileSync(join(root, 'page.html.br'), brotliCompressSync(page))
      await serve(
        (app) => app.static('/', root, { fallback: 'page.html', precompressed: true }),
        async (live) => {
          for (const coding of ['br', 'identity', 'br', 'identity']) {
            const headers = { accept: 'text/html', 'accept-encoding': coding }
            const reply = await live.ask('/users/7', { headers })
            const text = coding === 'br' ? brotliDecompressSync(reply.body).toString() : reply.text
            assert.ok(reply.status === 200 && text === page, `${coding}: ${reply.status}`)
          }
        },
      )
    })
  })
}
