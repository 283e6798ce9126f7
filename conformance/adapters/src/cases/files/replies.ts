import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { eventually, type Kit, request, turns } from '../../kit.ts'
import { type Folder, hello, modified } from './folder.ts'

export function filesAsReplies(kit: Kit, { root, large, build, serve }: Folder): void {
  test('the request waits for it where it is neither returned nor awaited', async () => {
    const app = kit.app()
    app.get('/sync', (ctx) => void ctx.file(join(root, 'a.txt')))
    app.get('/async', async (ctx) => void ctx.file(join(root, 'a.txt')))
    app.get(
      '/behind',
      (_, next) => next(),
      (ctx) => void ctx.file(join(root, 'large.bin')),
    )
    app.get('/missing', (ctx) => void ctx.file(join(root, 'none.txt')))
    app.get('/caught', (ctx) => ctx.file(join(root, 'none.txt')).catch(() => 'instead'))
    await kit.serve(app, async (live) => {
      assert.equal((await live.ask('/sync')).text, hello)
      assert.equal((await live.ask('/async')).text, hello)
      assert.ok((await live.ask('/behind')).body.equals(large))
      assert.equal((await live.ask('/missing')).status, 404)
      assert.equal((await live.ask('/caught')).text, 'instead')
    })
  })

  test('a small file and its headers', async () => {
    await serve(async (live) => {
      const reply = await live.ask('/one')
      assert.equal(reply.status, 200)
      assert.equal(reply.text, hello)
      assert.equal(reply.headers['content-type'], 'text/plain; charset=utf-8')
      assert.equal(reply.headers['content-length'], '12')
      assert.equal(reply.headers['last-modified'], modified)
      assert.equal(reply.headers['accept-ranges'], 'bytes')
      assert.match(reply.headers['etag'] ?? '', /^W\/"c-[0-9a-z]+"$/)
      assert.equal(reply.headers['content-disposition'], undefined)
      const empty = await live.ask('/f/empty.css')
      assert.deepEqual([empty.status, empty.text, empty.headers['content-length']], [200, '', '0'])
      assert.equal(empty.headers['content-type'], 'text/css; charset=utf-8')
    })
  })

  test('a large file arrives whole, several at once, at the pace of its reader', async () => {
    await serve(async (live) => {
      const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
      const replies = await Promise.all(Array.from({ length: 4 }, () => live.ask('/f/large.bin')))
      for (const reply of replies) {
        assert.equal(reply.headers['content-type'], 'application/octet-stream')
        assert.equal(reply.headers['content-length'], String(large.length))
        assert.equal(digest(reply.body), digest(large))
      }
      const wire = await live.connect()
      wire.socket.pause()
      wire.send(request('GET', '/f/large.bin'))
      // The server fills the buffers of the connection and waits; nothing shows when it does.
      await turns(100)
      wire.socket.resume()
      assert.equal(digest((await wire.reply()).body), digest(large))
      assert.equal((await wire.send(request('GET', '/one')).reply()).text, hello)
    })
  })

  test('HEAD has the headers alone', async () => {
    await serve(async (live) => {
      for (const [path, length] of [
        ['/one', '12'],
        ['/f/large.bin', String(large.length)],
        ['/f/empty.css', '0'],
      ] as const) {
        const reply = await live.ask(path, { method: 'HEAD', headers: { range: 'bytes=0-1' } })
        assert.equal(reply.status, 200)
        assert.equal(reply.headers['content-length'], length)
        assert.equal(reply.headers['content-range'], undefined)
      }
    })
  })

  test('with another status or method it is a body like any other', async () => {
    const app = kit.app()
    app.onNotFound((ctx) => ctx.status(404).file(join(root, 'a.txt')))
    app.post('/x', (ctx) => ctx.file(join(root, 'a.txt')))
    await kit.serve(app, async (live) => {
      const headers = { 'if-none-match': '*', range: 'bytes=0-1' }
      const missing = await live.ask('/none', { headers })
      assert.deepEqual([missing.status, missing.text], [404, hello])
      const posted = await live.ask('/x', { method: 'POST', headers })
      assert.deepEqual([posted.status, posted.text], [200, hello])
    })
  })

  /** How often this process has the file open; −1 where the system does not tell. */
  function opened(name: string): number {
    if (!existsSync('/proc/self/fd')) return -1
    return readdirSync('/proc/self/fd').filter((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`) === name
      } catch {
        return false
      }
    }).length
  }

  test('through inject and fetch', async () => {
    const app = build()
    const injected = await app.inject('/f/large.bin')
    assert.ok(injected.body.equals(large))
    const response = await app.fetch(new Request('http://x/f/large.bin'))
    assert.ok(Buffer.from(await response.arrayBuffer()).equals(large))
    const left = await app.fetch(new Request('http://x/f/large.bin'))
    await left.body?.cancel()
    await eventually(() => opened(join(root, 'large.bin')) <= 0, 'the file is closed')
  })
}
