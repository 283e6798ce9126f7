/** What a static folder is given: its root, its prefix and its options. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { StaticOptions, VolantError } from '../../src/index.ts'
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
})
