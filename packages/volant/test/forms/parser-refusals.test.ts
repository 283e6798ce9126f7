/** What the parser of forms refuses, wherever the bytes are cut. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { disposition, field, form, parse, withHead } from './kit.ts'

describe('the parser', () => {
  const refused: [what: string, body: Buffer, status: number, message: RegExp][] = [
    ['nothing', Buffer.alloc(0), 400, /end/],
    ['no last boundary', field('a', '1'), 400, /end/],
    ['half of the last boundary', form(field('a', '1')).subarray(0, -4), 400, /end/],
    ['a long preamble', form(`${'x'.repeat(4097)}\r\n`), 400, /begin/],
    [
      'text behind a boundary',
      form('--bx\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n'),
      400,
      /boundary/,
    ],
    ['no Content-Disposition', withHead('Content-Type: text/plain'), 400, /Content-Disposition/],
    ['another disposition', withHead('Content-Disposition: attachment; name=a'), 400, /form-data/],
    ['no name', disposition(''), 400, /no name/],
    ['no name but a filename', disposition('; filename=a'), 400, /no name/],
    ['two names', disposition('; name=a; name=b'), 400, /two names/],
    ['two file names', disposition('; name=a; filename=b; filename=c'), 400, /two names/],
    ['filename*', disposition("; name=a; filename*=UTF-8''b"), 400, /filename\*/],
    ['an open quote', disposition('; name="a'), 400, /cannot be read/],
    ['a quote that is escaped to the end', disposition('; name="a\\"'), 400, /cannot be read/],
    ['text behind a quote', disposition('; name="a"b'), 400, /cannot be read/],
    ['__proto__', disposition('; name="__proto__"'), 400, /__proto__/],
    [
      'two dispositions',
      withHead('Content-Disposition: form-data; name=a', 'content-disposition: form-data; name=b'),
      400,
      /twice/,
    ],
    ['a folded line', withHead('Content-Disposition: form-data;', ' name=a'), 400, /header field/],
    ['a line without colon', withHead('Content-Disposition: form-data; name=a', 'x'), 400, /header field/],
    ['a bare line feed', form('--b\r\nContent-Disposition: form-data; name=a\nX: y\r\n\r\n'), 400, /CR/],
    ['a bare carriage return', withHead('Content-Disposition: form-data; name="a\rb"'), 400, /header field/],
    ['a NUL', disposition('; name="a\0"'), 400, /header field/],
    [
      'a type that is none',
      withHead('Content-Disposition: form-data; name=a', 'Content-Type: x'),
      400,
      /Content-Type/,
    ],
    [
      'base64',
      withHead('Content-Disposition: form-data; name=a', 'Content-Transfer-Encoding: base64'),
      415,
      /Transfer-Encoding/,
    ],
    [
      'a name that is not UTF-8',
      form(Buffer.from('--b\r\nContent-Disposition: form-data; name="\xff"\r\n\r\n', 'latin1')),
      400,
      /UTF-8/,
    ],
  ]

  for (const [what, body, status, message] of refused) {
    test(`${what} is ${status}, at every cut`, () => {
      for (let cut = 1; cut <= body.length + 1; cut += body.length > 1000 ? 97 : 1)
        assert.throws(() => parse(body, cut), { status, message })
    })
  }
})
