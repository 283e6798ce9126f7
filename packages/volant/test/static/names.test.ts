/** Names of files that a path may have, decided without a file. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isOtherCase } from '../../src/reply/open-file.ts'
import { isWindowsName, namesOf } from '../../src/static/names.ts'

describe('static', () => {
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
})
