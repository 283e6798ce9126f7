import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { type Kit } from '../../kit.ts'
import { type Folder, written, modified } from './folder.ts'

export function conditionsOfFiles(kit: Kit, { root, serve }: Folder): void {
  const etag = `W/"c-${written.getTime().toString(36)}"`

  const before1 = 'Thu, 29 Feb 2024 12:34:55 GMT'

  const conditions: [headers: Record<string, string>, status: number][] = [
    [{ 'if-none-match': etag }, 304],
    [{ 'if-none-match': etag.slice(2) }, 304],
    [{ 'if-none-match': `"x", ${etag} ,"y"` }, 304],
    [{ 'if-none-match': '*' }, 304],
    [{ 'if-none-match': '"x"' }, 200],
    [{ 'if-none-match': 'garbage"' }, 200],
    [{ 'if-none-match': '"x"', 'if-modified-since': modified }, 200],
    [{ 'if-modified-since': modified }, 304],
    [{ 'if-modified-since': 'Thursday, 29-Feb-24 12:34:56 GMT' }, 304],
    [{ 'if-modified-since': 'Thu Feb 29 12:34:56 2024' }, 304],
    [{ 'if-modified-since': 'Fri, 01 Mar 2024 00:00:00 GMT' }, 304],
    [{ 'if-modified-since': 'Sat Mar  2 00:00:00 2024' }, 304],
    [{ 'if-modified-since': before1 }, 200],
    [{ 'if-modified-since': 'Thu, 29 Feb 1924 12:34:56 GMT' }, 200],
    [{ 'if-modified-since': '2030-01-01' }, 200],
    [{ 'if-modified-since': 'Thu, 99 Feb 2030 12:34:56 GMT' }, 200],
    [{ 'if-match': '*' }, 200],
    [{ 'if-match': etag }, 412],
    [{ 'if-match': '"x"' }, 412],
    [{ 'if-match': '*', 'if-unmodified-since': before1 }, 200],
    [{ 'if-unmodified-since': modified }, 200],
    [{ 'if-unmodified-since': before1 }, 412],
    [{ 'if-unmodified-since': 'garbage' }, 200],
    [{ 'if-unmodified-since': modified, 'if-none-match': etag }, 304],
    [{ 'if-none-match': etag, range: 'bytes=0-1' }, 304],
    [{ 'if-unmodified-since': before1, range: 'bytes=0-1' }, 412],
    [{ 'if-none-match': `${'"x",'.repeat(1_500)}"y"` }, 200],
  ]

  test(`${conditions.length} conditional requests`, async () => {
    await serve(async (live) => {
      for (const [headers, status] of conditions) {
        for (const method of ['GET', 'HEAD']) {
          if (method === 'HEAD' && status === 412) continue
          const reply = await live.ask('/one', { method, headers })
          assert.equal(reply.status, status, JSON.stringify(headers).slice(0, 100))
          if (status === 304) {
            assert.equal(reply.headers['etag'], etag)
            assert.equal(reply.headers['last-modified'], modified)
            assert.equal(reply.text, '')
          }
          if (status === 412) assert.equal((reply.json() as { code: string }).code, 'E_PRECONDITION')
        }
      }
    })
  })

  test('an ETag the handler set is the one that counts, and it may be strong', async () => {
    const app = kit.app()
    app.get('/x', (ctx) =>
      ctx.header('ETag', '"v1"').header('cache-control', 'max-age=60').file(join(root, 'a.txt')),
    )
    await kit.serve(app, async (live) => {
      assert.equal((await live.ask('/x', { headers: { 'if-match': '"v1"' } })).status, 200)
      const part = await live.ask('/x', { headers: { range: 'bytes=0-1', 'if-range': '"v1"' } })
      assert.deepEqual([part.status, part.headers['etag']], [206, '"v1"'])
      const unchanged = await live.ask('/x', { headers: { 'if-none-match': '"v1"' } })
      assert.deepEqual([unchanged.status, unchanged.headers['cache-control']], [304, 'max-age=60'])
    })
  })

  test('a date the handler set is the one that counts', async () => {
    const app = kit.app()
    const set = 'Sat, 01 Jan 2022 00:00:00 GMT'
    app.get('/x', (ctx) => ctx.header('last-modified', set).file(join(root, 'a.txt')))
    await kit.serve(app, async (live) => {
      const reply = await live.ask('/x', { headers: { 'if-modified-since': set } })
      assert.deepEqual([reply.status, reply.headers['last-modified']], [304, set])
      const before = 'Fri, 31 Dec 2021 23:59:59 GMT'
      assert.equal((await live.ask('/x', { headers: { 'if-modified-since': before } })).status, 200)
    })
  })
}
