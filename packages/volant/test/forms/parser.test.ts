/** What the parser of forms takes, wherever the bytes are cut. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { disposition, field, form, lines, parse, type Seen, withHead } from './kit.ts'

describe('the parser', () => {
  const rows: [what: string, body: Buffer, expected: Seen][] = [
    ['nothing but the end', form(), []],
    ['a field', form(field('a', 'one')), [['a', undefined, 'one', 'text/plain']]],
    ['an empty field', form(field('a', '')), [['a', undefined, '', 'text/plain']]],
    [
      'a head and no content at all',
      form('--b\r\nContent-Disposition: form-data; name=a\r\n\r\n'),
      [['a', undefined, '', 'text/plain']],
    ],
    [
      'content that looks like a boundary',
      form(field('a', '\r\n--\r\n-b\r\n--a\r\n--\r--b\n--b\r\r\n--c')),
      [['a', undefined, '\r\n--\r\n-b\r\n--a\r\n--\r--b\n--b\r\r\n--c', 'text/plain']],
    ],
    [
      'text before the first boundary and behind the last, and blanks behind boundaries',
      Buffer.concat([
        lines('preamble', ''),
        Buffer.from('--b \t\r\n'),
        field('a', '1').subarray(5),
        form(),
        lines('--b', 'x'),
      ]),
      [['a', undefined, '1', 'text/plain']],
    ],
    ['a file', disposition('; name="a"; filename="f.txt"'), [['a', 'f.txt', 'x', 'text/plain']]],
    ['a semicolon at the end', disposition('; name=a ; '), [['a', undefined, 'x', 'text/plain']]],
    ['a file without a name', disposition('; name="a"; filename=""'), [['a', '', 'x', 'text/plain']]],
    [
      'a type and other fields',
      withHead(
        'content-TYPE:  image/png; x=1 ',
        'X-Y: z',
        'Content-Disposition: FORM-DATA;name=a ; FileName = f ',
      ),
      [['a', 'f', 'x', 'image/png; x=1']],
    ],
    [
      'quotes as browsers write them',
      disposition('; name="a%22%0D%0a%20%5C\\x"'),
      [['a"\r\n%20%5C\\x', undefined, 'x', 'text/plain']],
    ],
    [
      'quotes as curl writes them',
      disposition(String.raw`; name="a\"\\b"`),
      [['a"\\b', undefined, 'x', 'text/plain']],
    ],
    ['names in UTF-8', disposition('; name="é€😀"'), [['é€😀', undefined, 'x', 'text/plain']]],
    [
      'a path of Windows',
      disposition(String.raw`; name=a; filename="C:\tmp\f.txt"`),
      [['a', 'f.txt', 'x', 'text/plain']],
    ],
    ['a path', disposition('; name=a; filename="../../etc/passwd"'), [['a', 'passwd', 'x', 'text/plain']]],
    ['a folder above', disposition('; name=a; filename="x/.."'), [['a', '', 'x', 'text/plain']]],
    [
      'a semicolon in quotes',
      disposition('; name="a;filename=b"'),
      [['a;filename=b', undefined, 'x', 'text/plain']],
    ],
    [
      'names that objects inherit',
      form(field('constructor', '1'), field('toString', '2')),
      [
        ['constructor', undefined, '1', 'text/plain'],
        ['toString', undefined, '2', 'text/plain'],
      ],
    ],
    [
      'an encoding that changes nothing',
      withHead('Content-Disposition: form-data; name=a', 'Content-Transfer-Encoding: binary'),
      [['a', undefined, 'x', 'text/plain']],
    ],
  ]

  for (const [what, body, expected] of rows) {
    test(`${what}, at every cut`, () => {
      for (let cut = 1; cut <= body.length; cut++)
        assert.deepEqual(parse(body, cut), expected, `in pieces of ${cut}`)
    })
  }
})
