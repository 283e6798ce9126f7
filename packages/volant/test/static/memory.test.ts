/** Codings, and what of files is kept in memory. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { brotliCompressSync, gzipSync } from 'node:zlib'
import { compress } from '../../src/compression/index.ts'
import { packedList, releaseHeaders } from '@volant/engine'
import type { RequestContext } from '../../src/types/request.ts'
import type { InjectReply } from '../../src/index.ts'
import { largestKept, PageCache } from '../../src/static/cache.ts'
import { codingsFor } from '../../src/static/codings.ts'
import type { Page } from '../../src/static/page.ts'
import { Kit } from '../kit.ts'

const kit = new Kit()

describe('static', () => {
  let root = ''

  before(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'volant-')))
    mkdirSync(join(root, 'folder'))
    writeFileSync(join(root, 'index.html'), 'index')
    writeFileSync(join(root, 'a.txt'), 'a')
    symlinkSync(join(root, 'folder'), join(root, 'link'))
    symlinkSync(join(root, 'nothing'), join(root, 'broken'))
  })

  after(() => rmSync(root, { recursive: true }))

  test('codings in the order of the client', () => {
    for (const [field, order] of [
      [undefined, ['identity']],
      ['', ['identity']],
      ['gzip, br, zstd', ['br', 'zstd', 'gzip', 'identity']],
      ['gzip;q=1, br;q=0.5, *;q=0.1', ['gzip', 'br', 'zstd', 'identity']],
      ['br;q=0, gzip', ['gzip', 'identity']],
      ['x-gzip', ['gzip', 'identity']],
      ['identity;q=0, gzip', ['gzip']],
      ['*;q=0', []],
      [`gzip${', x'.repeat(100)}`, ['gzip', 'identity']],
    ] as const) {
      assert.deepEqual(codingsFor(field), order, String(field))
      assert.deepEqual(codingsFor(field), order, String(field))
    }
  })

  test('a small file is compressed once for each coding', async (t) => {
    // A file that was written just now is read again after a second.
    t.mock.method(performance, 'now', () => 0)
    const zlib = createRequire(import.meta.url)('node:zlib') as {
      gzipSync: typeof gzipSync
      brotliCompressSync: typeof brotliCompressSync
    }
    const before = { gzipSync: zlib.gzipSync, brotliCompressSync: zlib.brotliCompressSync }
    const calls: string[] = []
    zlib.gzipSync = (...given) => (calls.push('gzip'), before.gzipSync(...given))
    zlib.brotliCompressSync = (...given) => (calls.push('br'), before.brotliCompressSync(...given))
    syncBuiltinESMExports()
    try {
      writeFileSync(join(root, 'long.txt'), 'all the same '.repeat(1_000))
      utimesSync(join(root, 'long.txt'), 1_700_000_000, 1_700_000_000)
      const app = kit.app()
      app.use(compress())
      app.static('/', root)
      const ask = (coding: string): Promise<InjectReply> =>
        app.inject({ url: '/long.txt', headers: { 'accept-encoding': coding } })
      const [first] = await Promise.all([ask('gzip'), ask('br')])
      calls.length = 0
      for (let times = 0; times < 10; times++) {
        const reply = await ask('gzip')
        assert.ok(reply.body.equals(first.body))
        await ask('br')
      }
      // Each of the first two requests may have read the file, and one of these pages was kept.
      assert.ok(calls.length <= 1, calls.join(' '))
    } finally {
      Object.assign(zlib, before)
      syncBuiltinESMExports()
    }
  })

  test('headers are packed for files in memory alone, and can be read once they are forgotten', async () => {
    const packed = async (cache: boolean, name: string): Promise<string[]> => {
      const app = kit.app()
      app.static('/', root, { cache })
      const found: string[] = []
      app.onResponse((ctx) => void found.push(...((ctx as unknown as RequestContext).replyHeaders ?? [])))
      for (let times = 0; times < 3; times++) assert.equal((await app.inject(`/${name}`)).status, 200)
      return found.filter((_, at, all) => at % 2 === 1 && all[at - 1] === '')
    }
    writeFileSync(join(root, 'large.bin'), Buffer.alloc(largestKept + 1))
    assert.deepEqual(await packed(false, 'a.txt'), [])
    assert.deepEqual(await packed(true, 'large.bin'), [])
    const list = ['content-type', 'text/plain; charset=utf-8']
    const [text = ''] = await packed(true, 'a.txt')
    assert.deepEqual(packedList(text).slice(0, 2), ['accept-ranges', 'bytes'])
    releaseHeaders(text)
    assert.ok(packedList(text).join().includes(list.join()))
  })

  test('memory has at most 1,000 files and 32 MiB, and those that were used last', () => {
    const released: string[] = []
    const page = (name: string, bytes: number): Page =>
      ({ bytes, used: false, keep: () => {}, release: () => released.push(name) }) as unknown as Page
    const small = new PageCache()
    for (let at = 0; at < 1_000; at++) small.set(`${at}`, page(`${at}`, 1))
    assert.deepEqual(released, [])
    ;(small.get('0') as Page).used = true
    small.set('more', page('more', 1))
    assert.deepEqual(released, ['1'])
    assert.equal(small.get('1'), undefined)
    assert.equal(small.get('0')?.used, false)
    released.length = 0
    const large = new PageCache()
    for (let at = 0; at < 513; at++) large.set(`${at}`, page(`${at}`, largestKept))
    assert.deepEqual(released, ['0'])
    large.set('1', page('1 again', largestKept))
    assert.deepEqual(released, ['0', '1'])
    large.delete('none')
    for (const used of ['2', '3']) (large.get(used) as Page).used = true
    large.set('huge', page('huge', largestKept * 2))
    assert.deepEqual(released, ['0', '1', '4', '5'])
  })
})
