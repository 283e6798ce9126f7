/** Forms in memory: what the parser takes and refuses, wherever the bytes are cut, and what handlers get. */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { type App, type Context, createApp, type FormLimits, type FormPart } from 'volant'
import { type KnownLimits, MultipartParser, Token } from '../src/forms/multipart.ts'

const usual: KnownLimits = { maxFormParts: 100, maxFormFiles: 10, maxFileSize: 10_000, maxFieldSize: 1000 }
const folder = mkdtempSync(join(tmpdir(), 'forms-'))
after(() => rmSync(folder, { recursive: true }))

type Seen = [name: string, filename: string | undefined, content: string, type: string][]

/** Parses `body`, which comes in chunks of these lengths. */
function parse(body: Buffer, cut: number, limits = usual, boundary = 'b'): Seen {
  const parser = new MultipartParser(boundary, limits)
  const seen: Seen = []
  let chunks: Buffer[] = []
  let isOver = false
  for (let at = 0; at < body.length; at += cut) {
    parser.feed(Buffer.from(body.subarray(at, at + cut)))
    for (;;) {
      const token = parser.read()
      if (token === Token.more) break
      if (token === Token.part) chunks = []
      else if (token === Token.data) chunks.push(parser.data)
      else if (token === Token.end) isOver = true
      else {
        const { name = '', filename, type = '' } = parser.head ?? {}
        seen.push([name, filename, Buffer.concat(chunks).toString('latin1'), type])
      }
    }
  }
  if (!isOver) throw Object.assign(new Error('it has no end'), { status: 400 })
  return seen
}

const lines = (...all: string[]) => Buffer.from(all.join('\r\n'))
const field = (name: string, value: string) =>
  lines('--b', `Content-Disposition: form-data; name="${name}"`, '', value, '')
const form = (...parts: (Buffer | string)[]) =>
  Buffer.concat([...parts.map((part) => Buffer.from(part)), Buffer.from('--b--\r\n')])
const withHead = (...head: string[]) => form(lines('--b', ...head, '', 'x', ''))
const disposition = (rest: string) => withHead(`Content-Disposition: form-data${rest}`)

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

  test('blanks in a line take linear time', () => {
    const line = `X: ${' '.repeat(4000)}y`
    const body = withHead(
      'Content-Disposition: form-data; name=a',
      ...Array.from({ length: 15 }, (_, at) => line.replace('X', `x-${at}`)),
    )
    const started = process.cpuUsage().user
    for (let round = 0; round < 100; round++) assert.equal(parse(body, body.length).length, 1)
    assert.ok(process.cpuUsage().user - started < 2_000_000)
  })

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

/** Sends a form to a route that tells what it read. */
async function ask(app: App, body: unknown, headers: Record<string, string> = {}, url = '/f') {
  const { status, body: bytes } = await app.inject({ method: 'POST', url, body, headers })
  const reply = JSON.parse(bytes.toString()) as { code?: string; detail?: string }
  return status === 200 ? reply : [status, reply.code, reply.detail]
}

const type = (boundary: string) => ({ 'content-type': `multipart/form-data; boundary=${boundary}` })

/** Describes a value of a form. */
async function shown(value: unknown): Promise<unknown> {
  if (Array.isArray(value)) return Promise.all(value.map(shown))
  return value instanceof File ? [value.name, value.type, await value.text()] : value
}

for (const bodyMode of ['buffer', 'stream'] as const) {
  describe(`ctx.form() of a body that is read as ${bodyMode}`, () => {
    const app = createApp({ signals: false, report: () => {} })
    app.post('/f', { bodyMode, maxFormParts: 3, maxFileSize: 100 }, async (ctx) => {
      const form = await ctx.form()
      assert.equal(await ctx.form(), form)
      assert.equal(Object.getPrototypeOf(form), null)
      const all = Object.entries(form).map(async ([name, value]) => [name, await shown(value)] as const)
      return Object.fromEntries(await Promise.all(all))
    })

    test('fields, files and repeated names', async () => {
      const data = new FormData()
      data.append('title', 'Ünïcode "quoted"')
      data.append('photo', new File(['GIF'], 'a "b".gif', { type: 'image/gif' }))
      data.append('title', 'second')
      assert.deepEqual(await ask(app, data), {
        title: ['Ünïcode "quoted"', 'second'],
        photo: ['a "b".gif', 'image/gif', 'GIF'],
      })
    })

    test('an input without a chosen file is left out', async () => {
      const input = (name: string) =>
        lines(
          '--b',
          `Content-Disposition: form-data; name=a; filename="${name}"`,
          'Content-Type: x/y',
          '',
          '',
          '',
        )
      assert.deepEqual(await ask(app, form(input('')), type('b')), {})
      assert.deepEqual(await ask(app, form(input('e.txt')), type('b')), { a: ['e.txt', 'x/y', ''] })
    })

    test('urlencoded', async () => {
      assert.deepEqual(await ask(app, new URLSearchParams('a=1&b=2&a=3')), { a: ['1', '3'], b: '2' })
      assert.deepEqual(await ask(app, new URLSearchParams()), {})
      assert.deepEqual(await ask(app, new URLSearchParams('__proto__=1')), [
        400,
        'E_BODY_MALFORMED',
        'the form is malformed: a field is named __proto__',
      ])
    })

    const refused: [
      what: string,
      type: string | null,
      body: Buffer | string,
      status: number,
      code: string,
    ][] = [
      ['JSON', 'application/json', '{}', 415, 'E_BODY_TYPE'],
      ['no type', null, 'a=1', 415, 'E_BODY_TYPE'],
      ['a broken type', 'multipart/form-data; =', '', 415, 'E_BODY_TYPE'],
      ['multipart of another kind', 'multipart/mixed; boundary=b', '', 415, 'E_BODY_TYPE'],
      ['no boundary', 'multipart/form-data', form(), 400, 'E_BODY_MALFORMED'],
      ['an empty boundary', 'multipart/form-data; boundary=""', form(), 400, 'E_BODY_MALFORMED'],
      ['two boundaries', 'multipart/form-data; boundary=b; boundary=c', form(), 400, 'E_BODY_MALFORMED'],
      [
        'a boundary of 71',
        `multipart/form-data; boundary=${'b'.repeat(71)}`,
        form(),
        400,
        'E_BODY_MALFORMED',
      ],
      ['no body', 'multipart/form-data; boundary=b', '', 400, 'E_BODY_MALFORMED'],
      ['no end', 'multipart/form-data; boundary=b', field('a', '1'), 400, 'E_BODY_MALFORMED'],
      [
        'a field that is not UTF-8',
        'multipart/form-data; boundary=b',
        form(Buffer.from(field('a', '\xff').toString(), 'latin1')),
        400,
        'E_BODY_ENCODING',
      ],
      [
        'a field in another charset',
        'multipart/form-data; boundary=b',
        withHead('Content-Disposition: form-data; name=a', 'Content-Type: text/plain; charset=utf-16'),
        415,
        'E_BODY_TYPE',
      ],
      ['a broken escape', 'application/x-www-form-urlencoded', 'a=%zz', 400, 'E_BODY_MALFORMED'],
      [
        'too many parts',
        'multipart/form-data; boundary=b',
        form(...Array.from({ length: 4 }, () => field('a', ''))),
        413,
        'E_FORM_TOO_LARGE',
      ],
    ]
    for (const [what, contentType, body, status, code] of refused) {
      test(`${what} is ${status}`, async () => {
        const reply = await ask(app, body, contentType === null ? {} : { 'content-type': contentType })
        assert.deepEqual((reply as unknown[]).slice(0, 2), [status, code])
      })
    }

    test('a boundary of 70 characters, quoted', async () => {
      const boundary = `${"'()+_,-./:=? ".repeat(5)}abcde`
      const body = form(field('a', '1')).toString().replaceAll('--b', `--${boundary}`)
      assert.deepEqual(await ask(app, body, type(JSON.stringify(boundary))), { a: '1' })
    })

    test('a content encoding is 415', async () => {
      const headers = { ...type('b'), 'content-encoding': 'gzip' }
      assert.deepEqual(((await ask(app, form(), headers)) as unknown[])[0], 415)
    })
  })
}

describe('options', () => {
  const wrong: [options: unknown, message: RegExp][] = [
    [null, /ctx\.form takes an object of options, not null/],
    [{ maxFormFiles: -1 }, /ctx\.form: maxFormFiles takes an integer from 0 to 100000/],
    [{ maxFileSize: '1mb' }, /ctx\.form: maxFileSize takes an integer/],
    [{ maxFiles: 1 }, /did you mean "maxFormFiles"/],
    [{ fileSize: 1 }, /did you mean "maxFileSize"/],
    [{ limits: {} }, /write the limits themselves: maxFormParts, maxFormFiles, maxFileSize, maxFieldSize/],
  ]
  for (const [options, message] of wrong) {
    test(`ctx.form(${JSON.stringify(options)}) is refused`, async () => {
      const errors: unknown[] = []
      const app = createApp({ signals: false, report: (error) => void errors.push(error) })
      app.post('/f', (ctx) => ctx.form(options as FormLimits))
      app.post('/p', (ctx) => ctx.parts(options as FormLimits).next())
      assert.equal(((await ask(app, form(), type('b'))) as unknown[])[0], 500)
      assert.match((errors[0] as Error).message, message)
      assert.equal(((await ask(app, form(), type('b'), '/p')) as unknown[])[0], 500)
      assert.match((errors[1] as Error).message, new RegExp(message.source.replace('form', '(form|parts)')))
    })
  }

  test('limits of the app, the route and the call: the innermost counts', async () => {
    const app = createApp({ signals: false, limits: { maxFormParts: 1 } })
    app.post('/app', (ctx) => ctx.form())
    app.post('/route', { maxFormParts: 2 }, (ctx) => ctx.form())
    app.post('/call', { maxFormParts: 2 }, (ctx) => ctx.form({ maxFormParts: 3 }))
    const body = (count: number) => form(...Array.from({ length: count }, (_, at) => field(`a${at}`, '')))
    for (const [url, most] of [
      ['/app', 1],
      ['/route', 2],
      ['/call', 3],
    ] as const) {
      assert.equal(Object.keys((await ask(app, body(most), type('b'), url)) as object).length, most)
      const [status, code, detail] = (await ask(app, body(most + 1), type('b'), url)) as unknown[]
      assert.deepEqual([status, code], [413, 'E_FORM_TOO_LARGE'])
      assert.equal(detail, `the form has more than ${most} parts (maxFormParts)`)
    }
  })

  test('limits of apps and routes are checked', () => {
    assert.throws(
      () => createApp({ limits: { maxFormParts: 0 } }),
      /limits\.maxFormParts takes an integer from 1/,
    )
    assert.throws(() => createApp({ limits: { files: 1 } as object }), /did you mean "maxFormFiles"/)
    assert.throws(
      () => createApp().post('/', { maxFieldSize: 1.5 }, () => {}),
      /maxFieldSize takes an integer/,
    )
  })
})

describe('ctx.parts()', () => {
  const photo = () => {
    const data = new FormData()
    data.append('title', 'one')
    data.append('photo', new File(['x'.repeat(500_000)], 'photo.jpg', { type: 'image/jpeg' }))
    data.append('last', 'two')
    return data
  }

  /** Has a handler read the form of `photo()`. */
  async function read(handler: Parameters<App['post']>[2], bodyMode: 'buffer' | 'stream' = 'stream') {
    const errors: unknown[] = []
    const app = createApp({ signals: false, report: (error) => void errors.push(error) })
    app.post('/f', { bodyMode }, handler as never)
    const reply = await ask(app, photo())
    assert.deepEqual(errors, [])
    return reply
  }

  for (const bodyMode of ['buffer', 'stream'] as const) {
    test(`each way to read a part (${bodyMode})`, async () => {
      const reply = await read(async (ctx: Context) => {
        const seen: unknown[] = []
        for await (const part of ctx.parts()) {
          const { name, filename, type, headers } = part
          const length =
            name === 'title'
              ? await part.text()
              : name === 'last'
                ? String(await part.bytes())
                : await lengthOf(part)
          seen.push([name, filename, type, Object.keys(headers).length, length])
        }
        return seen
      }, bodyMode)
      assert.deepEqual(
        reply,
        [
          ['title', undefined, 'text/plain', 1, 'one'],
          ['photo', 'photo.jpg', 'image/jpeg', 2, 500_000],
          ['last', undefined, 'text/plain', 1, 'two'],
        ].map((row) => row.map((each) => each ?? null)),
      )
    })
  }

  test('a part that is not read, or not to its end, is thrown away', async () => {
    const reply = await read(async (ctx: Context) => {
      const names: string[] = []
      for await (const part of ctx.parts()) {
        names.push(part.name)
        if (part.name === 'photo') for await (const chunk of part) if (chunk.length > 0) break
      }
      return names
    })
    assert.deepEqual(reply, ['title', 'photo', 'last'])
  })

  test('a part cannot be read once the next one was asked for, and is read once', async () => {
    const reply = await read(async (ctx: Context) => {
      const parts = ctx.parts()
      const { value: first } = await parts.next()
      assert.equal(await first?.text(), 'one')
      await assert.rejects(async () => first?.text(), { code: 'E_BODY_USED' })
      const { value: second } = await parts.next()
      await assert.rejects(async () => first?.bytes(), { code: 'E_BODY_USED' })
      const reading = second?.bytes()
      const { value: third } = await parts.next()
      assert.equal((await reading)?.length, 500_000, 'the next part waits for what reads a whole one')
      await assert.rejects(async () => second?.text(), { code: 'E_BODY_USED' })
      assert.equal(await third?.text(), 'two')
      assert.deepEqual(await parts.next(), { done: true, value: undefined })
      return []
    })
    assert.deepEqual(reply, [])
  })

  for (const bodyMode of ['buffer', 'stream'] as const) {
    test(`what reads a part while another does is refused (${bodyMode})`, async () => {
      const reply = await read(async (ctx: Context) => {
        const lengths: unknown[] = []
        for await (const part of ctx.parts()) {
          const bytes = part.bytes()
          for (const other of [part.text(), part.toFile(folder)]) {
            await assert.rejects(other, { code: 'E_BODY_USED' })
          }
          lengths.push((await bytes).length)
        }
        return lengths
      }, bodyMode)
      assert.deepEqual(reply, [3, 500_000, 3])
    })
  }

  for (const way of ['bytes', 'text', 'toFile'] as const) {
    test(`${way}() that would be awaited after the loop ends no process when the form breaks off`, async (t) => {
      const unhandled: unknown[] = []
      const listener = (error: unknown): void => void unhandled.push(error)
      process.on('unhandledRejection', listener)
      t.after(() => process.off('unhandledRejection', listener))
      const app = createApp({ signals: false, report: () => {} })
      app.post('/f', { bodyMode: 'stream' }, async (ctx) => {
        const work: unknown[] = []
        for await (const part of ctx.parts()) work.push(way === 'toFile' ? part.toFile(folder) : part[way]())
        return Promise.all(work)
      })
      const body = '--b\r\nContent-Disposition: form-data; name=a\r\n\r\nthe rest is miss'
      const [status] = (await ask(app, body, type('b'))) as unknown[]
      assert.equal(status, 400)
      await new Promise((resolve) => setImmediate(resolve))
      assert.deepEqual(unhandled, [])
    })
  }

  test('one reader of chunks at a time, whom the next part waits for', async () => {
    const reply = await read(async (ctx: Context) => {
      const parts = ctx.parts()
      await parts.next()
      const { value: photo } = await parts.next()
      const [one, two] = [photo?.[Symbol.asyncIterator](), photo?.[Symbol.asyncIterator]()]
      // The chunk that is there is given at once, and the second is waited for.
      assert.ok((await one?.next())?.value instanceof Uint8Array)
      const pending = one?.next()
      const refused = assert.rejects(async () => two?.next(), { code: 'E_BODY_USED' })
      const { value: last } = await parts.next()
      assert.ok((await pending)?.value instanceof Uint8Array)
      await refused
      await assert.rejects(async () => one?.next(), { code: 'E_BODY_USED' })
      return [await last?.text()]
    })
    assert.deepEqual(reply, ['two'])
  })

  test('the body is read once', async () => {
    await read(async (ctx: Context) => {
      for await (const { name } of ctx.parts()) void name
      await assert.rejects(ctx.parts().next(), { code: 'E_BODY_USED' })
      await assert.rejects(ctx.form(), { code: 'E_BODY_USED' })
      assert.throws(() => ctx.body, { code: 'E_BODY_STREAMED' })
      return []
    })
  })

  test('to files: random names that only this user may read', async () => {
    const reply = (await read(async (ctx: Context) => {
      const saved: unknown[] = []
      for await (const part of ctx.parts())
        saved.push(await part.toFile(part.name === 'last' ? pathToFileURL(folder) : folder))
      return saved
    })) as unknown as { path: string; size: number }[]
    assert.deepEqual(
      reply.map(({ size }) => size),
      [3, 500_000, 3],
    )
    for (const { path, size } of reply) {
      assert.equal(dirname(path), folder)
      assert.match(path.slice(folder.length + 1), /^[0-9a-f-]{36}$/)
      assert.equal(statSync(path).mode & 0o777, 0o600)
      assert.equal(readFileSync(path).length, size)
      rmSync(path)
    }
  })

  test('a form that fails removes the files that it wrote', async () => {
    const app = createApp({ signals: false })
    app.post('/f', { bodyMode: 'stream' }, async (ctx) => {
      for await (const part of ctx.parts()) await part.toFile(folder)
    })
    const bad = form(field('a', '1'), field('b', '2'), '--b\r\nX\r\n\r\n')
    assert.deepEqual(((await ask(app, bad, type('b'))) as unknown[])[0], 400)
    const large = form(field('a', '1'), field('b', 'x'.repeat(70_000)))
    assert.deepEqual(((await ask(app, large, type('b'))) as unknown[])[0], 413)
    assert.deepEqual(readdirSync(folder), [])
  })

  test('a folder that is not there is an error of the program', async () => {
    const errors: unknown[] = []
    const app = createApp({ signals: false, report: (error) => void errors.push(error) })
    app.post('/f', { bodyMode: 'stream' }, async (ctx) => {
      for await (const part of ctx.parts()) await part.toFile(join(folder, 'none'))
    })
    assert.equal(((await ask(app, photo())) as unknown[])[0], 500)
    assert.equal((errors[0] as NodeJS.ErrnoException).code, 'ENOENT')
  })
})

async function lengthOf(part: FormPart): Promise<number> {
  let length = 0
  for await (const chunk of part.stream) length += chunk.length
  return length
}
