/** The limits of the parser of forms. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type KnownLimits, MultipartParser, Token } from '../../src/forms/multipart.ts'
import { disposition, field, form, parse, usual, withHead } from './kit.ts'

describe('the parser', () => {
  const limits: [what: string, good: Buffer, bad: Buffer, limits: KnownLimits, message: RegExp][] = [
    [
      'parts',
      form(field('a', ''), field('a', '')),
      form(field('a', ''), field('a', ''), field('a', '')),
      { ...usual, maxFormParts: 2 },
      /2 parts \(maxFormParts\)/,
    ],
    [
      'files',
      disposition('; name=a; filename=b'),
      form(disposition('; name=a; filename=b').subarray(0, -7), disposition('; name=a; filename=b')),
      { ...usual, maxFormFiles: 1 },
      /1 files \(maxFormFiles\)/,
    ],
    [
      'a file',
      form('--b\r\nContent-Disposition: form-data; name=a; filename=b\r\n\r\n12345\r\n'),
      form('--b\r\nContent-Disposition: form-data; name=a; filename=b\r\n\r\n123456\r\n'),
      { ...usual, maxFileSize: 5 },
      /file "a" is larger than 5 bytes \(maxFileSize\)/,
    ],
    [
      'a field',
      form(field('a', '12345')),
      form(field('a', '123456')),
      { ...usual, maxFieldSize: 5 },
      /field "a" is larger than 5 bytes \(maxFieldSize\)/,
    ],
    [
      'a name',
      form(field('€'.repeat(85), '')),
      form(field('€'.repeat(85) + 'x', '')),
      usual,
      /longer than 255 bytes/,
    ],
    [
      'fields of a head',
      withHead(
        'Content-Disposition: form-data; name=a',
        ...Array.from({ length: 15 }, (_, at) => `x-${at}: y`),
      ),
      withHead(
        'Content-Disposition: form-data; name=a',
        ...Array.from({ length: 16 }, (_, at) => `x-${at}: y`),
      ),
      usual,
      /16 header fields/,
    ],
    [
      'a line',
      withHead('Content-Disposition: form-data; name=a', `x: ${'y'.repeat(4093)}`),
      withHead('Content-Disposition: form-data; name=a', `x: ${'y'.repeat(4094)}`),
      usual,
      /longer than 4096 bytes/,
    ],
  ]

  for (const [what, good, bad, given, message] of limits) {
    test(`the limit of ${what}, at every cut`, () => {
      const step = good.length > 1000 ? 61 : 1
      for (let cut = 1; cut <= bad.length; cut += step) {
        assert.ok(parse(good, cut, given).length > 0)
        assert.throws(() => parse(bad, cut, given), { status: 413, code: 'E_FORM_TOO_LARGE', message })
      }
    })
  }

  test('a line that does not end is refused once it is too long', () => {
    const parser = new MultipartParser('b', usual)
    parser.feed(Buffer.from('--b\r\nx: '))
    assert.equal(parser.read(), Token.more)
    parser.feed(Buffer.alloc(4000, 'y'))
    assert.equal(parser.read(), Token.more)
    parser.feed(Buffer.alloc(100, 'y'))
    assert.throws(() => parser.read(), /4096/)
  })
})
