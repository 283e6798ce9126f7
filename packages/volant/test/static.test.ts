/** What static folders decide without a file or a socket: options, names of files, codings, what is kept in memory. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { brotliCompressSync, gzipSync } from 'node:zlib'
import { compress } from '../src/compression/index.ts'
import { packedList, releaseHeaders } from '@volant/engine'
import type { RequestContext } from '../src/types/request.ts'
import type { InjectReply, StaticOptions, VolantError } from '../src/index.ts'
import { isOtherCase } from '../src/reply/open-file.ts'
import { largestKept, PageCache } from '../src/static/cache.ts'
import { codingsFor } from '../src/static/codings.ts'
import { isWindowsName, namesOf } from '../src/static/names.ts'
import type { Page } from '../src/static/page.ts'
import { Kit } from './kit.ts'

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

  const refusedRoots: [root: unknown, message: RegExp][] = [
    ['', /^static\(\/s\): root takes the path of a folder, or its file: URL, not ""$/],
    [undefined, /^static\(\/s\): root takes .*, not undefined$/],
    [{ root: 'public' }, /^static\(\/s\): root takes/],
    ['a\0b', /^static\(\/s\): root takes/],
    [new URL('http://x/public'), /^static\(\/s\): root takes/],
  ]
  test('roots that are none', () => {
    const refuse = (given: unknown, message: RegExp): void =>
      assert.throws(
        () => kit.app().static('/s', given as string),
        (error: VolantError) => error.code === 'E_BAD_OPTION' && message.test(error.message),
      )
    for (const [given, message] of refusedRoots) refuse(given, message)
    refuse(join(root, 'nothing'), /root takes a folder that exists; .*nothing does not$/)
    refuse(join(root, 'broken'), /root takes a folder that exists/)
    refuse(join(root, 'a.txt'), /root takes a folder; .*a\.txt is none$/)
    for (const good of [root, `${root}/`, join(root, 'link'), pathToFileURL(root)])
      kit.app().static('/s', good)
  })

  test('prefixes that are none', () => {
    for (const [prefix, code] of [
      ['', 'E_BAD_OPTION'],
      [undefined, 'E_BAD_OPTION'],
      ['/*', 'E_BAD_OPTION'],
      ['/a/*', 'E_BAD_OPTION'],
      ['/a/:b?', 'E_BAD_OPTION'],
      ['assets', 'E_ROUTE_PATTERN'],
      ['/a/../b', 'E_ROUTE_PATTERN'],
    ] as const) {
      assert.throws(
        () => kit.app().static(prefix as string, root),
        (error: VolantError) => error.code === code,
        String(prefix),
      )
    }
  })

  const refused: [options: unknown, message: RegExp][] = [
    [null, /^static\(\/s\) takes an object of options/],
    [{ maxage: 1 }, /did you mean "maxAge"/],
    [{ root: 'x' }, /it is the second argument/],
    [{ preCompressed: true }, /did you mean "precompressed"/],
    [{ serveDotFiles: true }, /write dotfiles: 'allow'/],
    [{ list: true }, /folders are never listed/],
    [{ index: 5 }, /^static\(\/s\): index takes the name of a file/],
    [{ index: true }, /index takes/],
    [{ index: 'a/b.html' }, /index takes/],
    [{ index: '..' }, /index takes/],
    [{ index: '' }, /index takes/],
    [{ index: ['index.html', '.env'] }, /index takes/],
    [{ extensions: 'html' }, /extensions takes an array/],
    [{ extensions: ['.html'] }, /extensions takes extensions without their dot/],
    [{ extensions: ['../x'] }, /extensions takes/],
    [
      { maxAge: '1d' },
      /maxAge takes a number of seconds, at most 31536000, a year \(other packages take milliseconds\)/,
    ],
    [{ maxAge: -1 }, /maxAge takes/],
    [{ maxAge: 1.5 }, /maxAge takes/],
    [{ maxAge: 31_536_000_000 }, /maxAge takes/],
    [{ immutable: 'yes' }, /immutable takes true or false/],
    [{ cacheControl: 'no-cache' }, /cacheControl takes true or false/],
    [{ cacheControl: false, maxAge: 5 }, /which cacheControl: false leaves out/],
    [{ cacheControl: false, immutable: true }, /which cacheControl: false leaves out/],
    [{ etag: 'weak' }, /etag takes true or false/],
    [{ lastModified: 1 }, /lastModified takes/],
    [{ acceptRanges: null }, /acceptRanges takes/],
    [{ precompressed: ['br'] }, /precompressed takes true or false/],
    [{ fallback: true }, /fallback takes the path of a page/],
    [{ fallback: '../index.html' }, /fallback takes the path/],
    [{ fallback: '/index.html' }, /fallback takes the path/],
    [{ fallback: 'none.html' }, /fallback takes a page that exists; .*none\.html does not/],
    [{ fallback: 'folder' }, /fallback takes a page that exists/],
    [{ dotfiles: 'deny' }, /dotfiles takes ignore, allow/],
    [{ dotfiles: true }, /dotfiles takes ignore, allow/],
    [{ setHeaders: {} }, /setHeaders takes a function/],
    [{ cache: 5 }, /cache takes true or false/],
  ]
  for (const [options, message] of refused) {
    test(`${JSON.stringify(options)} is refused by name`, () => {
      assert.throws(
        () => kit.app().static('/s', root, options as StaticOptions),
        (error: VolantError) => {
          assert.match(error.message, message)
          return error.code === 'E_BAD_OPTION'
        },
      )
    })
  }

  test('a second folder with one prefix is a conflict, also where it is mounted', () => {
    const app = kit.app()
    app.static('/s', root)
    const conflict = (error: VolantError): boolean => error.code === 'E_ROUTE_CONFLICT'
    assert.throws(() => app.static('/s', root), conflict)
    assert.throws(() => app.static('/s/', root), conflict)
    assert.throws(() => app.get('/s/*path', () => 'x'), conflict)
    const inner = kit.app()
    inner.static('/', root)
    assert.throws(() => app.mount('/s', inner), conflict)
  })

  test('it is a route that documents do not show, and its paths without a name give way', async () => {
    const app = kit.app({ router: { ignoreTrailingSlash: true } })
    app.static('/s', root)
    app.get('/t', () => 'route')
    app.static('/t', root)
    assert.deepEqual(
      app.routes().map(({ method, path, hidden }) => [method, path, hidden]),
      [
        ['GET', '/s/*', true],
        ['GET', '/t', undefined],
        ['GET', '/t/*', true],
      ],
    )
    assert.equal((await app.inject('/s')).headers['location'], '/s/')
    assert.equal((await app.inject('/s/')).body.toString(), 'index')
    assert.equal((await app.inject('/t')).body.toString(), 'route')
    assert.equal((await app.inject('/t/')).body.toString(), 'route')
    assert.equal((await app.inject('/t/a.txt')).body.toString(), 'a')
  })

  test('registered too late', async () => {
    const app = kit.app()
    await app.listen({ port: 0, host: '127.0.0.1' })
    assert.throws(
      () => app.static('/s', root),
      (error: VolantError) => error.code === 'E_STARTED',
    )
    await app.close()
  })

  test('setHeaders that is async', async () => {
    const app = kit.app()
    app.static('/s', root, { setHeaders: async (headers) => headers.set('x', 'y') })
    assert.equal((await app.inject('/s/a.txt')).status, 500)
    assert.equal((kit.reports.pop() as VolantError).code, 'E_BAD_HANDLER')
  })

  const paths: [path: string, names: string[] | null, dotfiles?: boolean][] = [
    ['', ['']],
    ['a', ['a']],
    ['a/', ['a', '']],
    ['a/b.c', ['a', 'b.c']],
    ['a%20b/%C3%A4', ['a b', 'ä']],
    ['a%2525', ['a%25']],
    ['a//b', null],
    ['/a', null],
    ['/', null],
    ['a//', null],
    ['a%2Fb', null],
    ['a%5Cb', null],
    ['%2F', null],
    ['.', null],
    ['..', null],
    ['a/../b', null],
    ['.a', null],
    ['a/.b/c', null],
    ['.a', ['.a'], true],
    ['..', null, true],
    ['.', null, true],
    ['...', ['...'], true],
    ['a\\b', null, true],
    ['a\0', null, true],
  ]
  for (const [path, names, dotfiles = false] of paths) {
    test(`the names of ${JSON.stringify(path)}${dotfiles ? ' with dotfiles' : ''}`, () => {
      assert.deepEqual(namesOf(path, dotfiles, false), names)
    })
  }

  const good = [
    'a',
    'index.html',
    'console',
    'com',
    'com10',
    'lpt0x',
    'a~b',
    'long-name~1.txt',
    'x~1.html',
    'auxiliary.js',
    'nul-l',
    'a b',
    'ä.txt',
    '~',
    'a~',
  ]
  const bad = [
    'C:',
    'c:a',
    'a:b',
    'a::$DATA',
    'a.',
    'a ',
    'a. .',
    '...',
    'con',
    'CON',
    'con.txt',
    'Aux.tar.gz',
    'nul',
    'prn.',
    'com1',
    'COM9.log',
    'lpt1',
    'lpt¹.x',
    'con .txt',
    'conin$',
    'CLOCK$',
    'GIT~1',
    'INDEX~1.HTM',
    'a~12',
    '~1',
    'a*',
    'a?',
    '<a>',
    'a|b',
    '"a"',
    'a\x01',
  ]
  test('names on Windows', () => {
    for (const name of good) assert.ok(isWindowsName(name), name)
    for (const name of bad) {
      assert.ok(!isWindowsName(name), name)
      assert.equal(namesOf(`x/${encodeURIComponent(name)}`, true, true), null)
      assert.notEqual(namesOf(`x/${encodeURIComponent(name)}`, true, false), null)
    }
  })

  test('a name in another case, where the system finds it', () => {
    for (const [asked, real, isOther] of [
      ['/www/private/x.txt', '/www/private/x.txt', false],
      ['/www/Private/x.txt', '/www/private/x.txt', true],
      ['/www/private/X.TXT', '/www/private/x.txt', true],
      ['/www/Ä', '/www/a\u0308', true],
      ['/www/\u00e4', '/www/a\u0308', false],
      ['/www/link', '/www/Target', false],
      ['C:\\www\\Private', 'C:\\www\\private', true],
    ] as const) {
      assert.equal(isOtherCase(asked, real), isOther, asked)
    }
  })

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
