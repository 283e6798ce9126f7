/** `ctx.form()`: what handlers get of a form, and its options. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createApp, type FormLimits } from 'volant'
import { ask, field, form, lines, type, withHead } from './kit.ts'

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

/** Describes a value of a form. */
async function shown(value: unknown): Promise<unknown> {
  if (Array.isArray(value)) return Promise.all(value.map(shown))
  return value instanceof File ? [value.name, value.type, await value.text()] : value
}
