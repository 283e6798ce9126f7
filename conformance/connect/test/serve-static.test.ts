/** serve-static: files, ranges, conditions, redirects, and paths that it must not follow. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '@volant/test-kit'
import { brief, type Client, requestBytes, type Seen } from '../src/client.ts'
import { compression, serveStatic } from '../src/layers.ts'
import { type Scenario, scenario, scenarios } from '../src/scenario.ts'
import type { Site } from '../src/site.ts'

/** A folder; the dates of its files do not differ from run to run. */
function folder(): string {
  const root = mkdtempSync(join(tmpdir(), 'connect-static-'))
  const files: Record<string, string | Buffer> = {
    'public/a.txt': 'the quick brown fox jumps over the lazy dog',
    'public/index.html': '<p>home</p>',
    'public/empty.txt': '',
    'public/page.html': '<p>page</p>',
    'public/b c.txt': 'space',
    'public/ü.txt': 'umlaut',
    'public/.hidden': 'hidden',
    'public/sub/index.html': '<p>sub</p>',
    'public/sub/x.json': '{"x":1}',
    'public/big.bin': Buffer.alloc(10 * 1024 * 1024, 'abcdefg'),
    'secret.txt': 'secret',
  }
  for (const [name, content] of Object.entries(files)) {
    const path = join(root, name)
    mkdirSync(join(path, '..'), { recursive: true })
    writeFileSync(path, content)
    utimesSync(path, 1_700_000_000, 1_700_000_000)
  }
  symlinkSync('a.txt', join(root, 'public/link.txt'))
  return root
}

type Asked = [path: string, headers?: Record<string, string>, method?: string]

async function ask(client: Client, asked: Asked[]): Promise<unknown[]> {
  const out: unknown[] = []
  for (const [path, headers = {}, method = 'GET'] of asked) {
    const reply = await client.ask(path, { method, headers })
    // A redirect has a page of its own; other errors have the framework's.
    const failed = reply.status >= 400
    out.push([path, method, failed ? brief(reply, 'content-range', 'allow') : reply])
  }
  return out
}

function served(
  options: object,
  asked: Asked[],
  prefix = '/',
  then?: (replies: unknown[]) => void,
): Scenario {
  return scenario({
    build(site: Site) {
      const root = folder()
      site.mount(prefix, serveStatic(join(root, 'public'), options))
      site.reply('GET', '/route', () => ({ headers: { 'content-type': 'text/plain' }, body: 'a route' }))
      return root
    },
    after: (root) => rmSync(root, { recursive: true }),
    async play(client) {
      const replies = await ask(client, asked)
      then?.(replies)
      return replies
    },
  })
}

const plainPaths: Asked[] = [
  ['/a.txt'],
  ['/a.txt', {}, 'HEAD'],
  ['/a.txt?x=1'],
  ['/'],
  ['/index.html'],
  ['/empty.txt'],
  ['/b%20c.txt'],
  ['/%C3%BC.txt'],
  ['/link.txt'],
  ['/sub/'],
  ['/sub'],
  ['/sub/x.json'],
  ['/none.txt'],
  ['/route'],
  ['/.hidden'],
  ['/page'],
  ['/a.txt/'],
]

const tag = 'W/"2b-18bcfe56800"'

scenarios('serve-static', {
  'files, indexes and folders': served({}, plainPaths, '/', (replies) => {
    assert.equal(((replies[0] as unknown[])[2] as Seen).headers['etag'], tag)
  }),
  'under a prefix': served(
    {},
    plainPaths.map(([path, ...rest]): Asked => [`/files${path}`, ...rest]).concat([['/files'], ['/a.txt']]),
    '/files',
  ),
  'with options': served(
    {
      maxAge: '1d',
      immutable: true,
      index: ['x.html', 'page.html'],
      extensions: ['html', 'txt'],
      dotfiles: 'allow',
      etag: false,
      lastModified: false,
    },
    plainPaths,
  ),
  'dotfiles: deny, no redirects, no ranges': served(
    { dotfiles: 'deny', redirect: false, acceptRanges: false, cacheControl: false },
    [...plainPaths, ['/a.txt', { range: 'bytes=0-3' }]],
  ),
  'setHeaders, and no index': served(
    {
      index: false,
      setHeaders: (res: { setHeader: (name: string, value: string) => void }) =>
        res.setHeader('X-Mine', 'yes'),
    },
    plainPaths,
  ),
  'fallthrough: false': served({ fallthrough: false }, [
    ['/none.txt'],
    ['/a.txt'],
    ['/.hidden'],
    ['/a.txt', {}, 'POST'],
    ['/route'],
  ]),
  'other methods': served({}, [
    ['/a.txt', {}, 'POST'],
    ['/a.txt', {}, 'PUT'],
    ['/a.txt', {}, 'DELETE'],
  ]),
  ranges: served({}, [
    ['/a.txt', { range: 'bytes=0-3' }],
    ['/a.txt', { range: 'bytes=4-' }],
    ['/a.txt', { range: 'bytes=-5' }],
    ['/a.txt', { range: 'bytes=0-3' }, 'HEAD'],
    ['/a.txt', { range: 'bytes=40-100' }],
    ['/a.txt', { range: 'bytes=100-' }],
    ['/a.txt', { range: 'bytes=0-1,4-5' }],
    ['/a.txt', { range: 'lines=0-1' }],
    ['/a.txt', { range: 'bytes=x' }],
    ['/a.txt', { range: 'bytes=0-3', 'if-range': tag }],
    ['/a.txt', { range: 'bytes=0-3', 'if-range': '"other"' }],
    ['/a.txt', { range: 'bytes=0-3', 'if-range': 'Tue, 14 Nov 2023 22:13:20 GMT' }],
    ['/big.bin', { range: 'bytes=5000000-5000009' }],
  ]),
  conditions: served({}, [
    ['/a.txt', { 'if-none-match': tag }],
    ['/a.txt', { 'if-none-match': tag }, 'HEAD'],
    ['/a.txt', { 'if-none-match': '"other"' }],
    ['/a.txt', { 'if-none-match': '*' }],
    ['/a.txt', { 'if-none-match': tag, 'cache-control': 'no-cache' }],
    ['/a.txt', { 'if-modified-since': 'Tue, 14 Nov 2023 22:13:20 GMT' }],
    ['/a.txt', { 'if-modified-since': 'Mon, 13 Nov 2023 22:13:20 GMT' }],
    ['/a.txt', { 'if-modified-since': 'no date' }],
    ['/a.txt', { 'if-match': '"other"' }],
    ['/a.txt', { 'if-match': tag }],
    ['/a.txt', { 'if-unmodified-since': 'Mon, 13 Nov 2023 22:13:20 GMT' }],
  ]),
  'of 10 MB': served({}, [['/big.bin'], ['/big.bin', {}, 'HEAD']]),
  'behind compression': scenario({
    build(site) {
      const root = folder()
      writeFileSync(join(root, 'public/long.txt'), 'long '.repeat(1000))
      utimesSync(join(root, 'public/long.txt'), 1_700_000_000, 1_700_000_000)
      site.use(compression())
      site.mount('/', serveStatic(join(root, 'public')))
      return root
    },
    after: (root) => rmSync(root, { recursive: true }),
    play: (client) =>
      ask(client, [
        ['/long.txt', { 'accept-encoding': 'gzip' }],
        ['/long.txt', { 'accept-encoding': 'gzip' }, 'HEAD'],
        ['/a.txt', { 'accept-encoding': 'gzip' }],
        ['/long.txt', { 'accept-encoding': 'gzip', range: 'bytes=0-9' }],
        ['/a.txt', { 'accept-encoding': 'gzip', 'if-none-match': tag }],
      ]),
  }),

  // What Express answers differs (it knows no canonical path), so these are not compared: no spelling finds the secret.
  'no spelling leaves the folder': scenario({
    build(site) {
      const root = folder()
      site.mount('/', serveStatic(join(root, 'public')))
      site.mount('/files', serveStatic(join(root, 'public')))
      return root
    },
    after: (root) => rmSync(root, { recursive: true }),
    memory: false,
    async play(client) {
      const ups = [
        '..',
        '%2e%2e',
        '.%2e',
        '%2E.',
        '..%2f',
        '..%5c',
        '..\\',
        '%252e%252e',
        '..%00',
        '..;',
        '%c0%ae%c0%ae',
        '.../',
        '....//',
      ]
      for (const prefix of ['/', '/files/', '//', '/./', '/sub/../', '/sub/']) {
        for (const up of ups) {
          for (const times of [1, 2]) {
            const path = `${prefix}${`${up}/`.repeat(times)}secret.txt`
            const wire = await client.connect()
            wire.send(requestBytes('GET', path, { connection: 'close' }))
            await eventually(() => wire.isEnded, `a reply to ${path}`)
            assert.ok(!/secret\r?\n?$/.test(wire.received.toString().split('\r\n\r\n')[1] ?? ''), path)
            assert.match(wire.received.toString(), /^HTTP\/1\.1 [345]/, path)
            wire.close()
          }
        }
      }
      return true
    },
  }),
})
