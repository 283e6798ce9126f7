/** Routes that declare a form: what is checked, what the document shows, and what clients send. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import Type from 'typebox'
import { type } from 'arktype'
import * as v from 'valibot'
import { type App, contract, createApp, openapiOf, type Schema } from 'volant'
import { createClient } from 'volant/client'
import { clientFile } from 'volant/generate'
import { z } from 'zod'

const consumes = 'multipart/form-data'
const photo = new File(['GIF'], 'a.gif', { type: 'image/gif' })

const binary = { type: 'string', format: 'binary' } as const
const schemas: Record<string, Schema> = {
  zod: z.object({
    title: z.string().min(2),
    age: z.coerce.number().optional(),
    photo: z.file(),
    more: z.array(z.instanceof(File)).optional(),
  }),
  valibot: v.object({
    title: v.pipe(v.string(), v.minLength(2)),
    age: v.optional(v.pipe(v.string(), v.toNumber())),
    photo: v.file(),
    more: v.optional(v.array(v.instance(File))),
  }),
  arktype: type({
    title: 'string >= 2',
    'age?': 'string.numeric.parse',
    photo: 'File',
    'more?': 'File[]',
  }),
  'JSON Schema': {
    type: 'object',
    properties: {
      title: { type: 'string', minLength: 2 },
      age: { type: 'number' },
      photo: binary,
      more: { type: 'array', items: binary },
    },
    required: ['title', 'photo'],
  },
  TypeBox: Type.Object({
    title: Type.String({ minLength: 2 }),
    age: Type.Optional(Type.Number()),
    photo: Type.Unsafe<File>(binary),
    more: Type.Optional(Type.Array(Type.Unsafe<File>(binary))),
  }),
}

function formOf(values: Record<string, string | File | (string | File)[]>): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(values)) {
    for (const each of [value].flat()) form.append(name, each as string)
  }
  return form
}

async function post(app: App, body: unknown, headers: Record<string, string> = {}) {
  const reply = await app.inject({ method: 'POST', url: '/f', body, headers })
  return [reply.status, reply.json()] as [number, { code?: string; errors?: { pointer: string }[] }]
}

for (const [name, body] of Object.entries(schemas)) {
  describe(`a form by ${name}`, () => {
    const app = createApp({ signals: false })
    app.post('/f', { consumes, body }, (ctx) => {
      const { more, photo, ...others } = ctx.body as Record<string, unknown>
      return {
        ...others,
        photo: (photo as File).name,
        more: (more as File[] | undefined)?.map((each) => each.size),
      }
    })

    test('files are files, numbers are converted, and one of a list is a list', async () => {
      const sent = formOf({ title: 'ab', age: '7', photo, more: photo })
      assert.deepEqual(await post(app, sent), [200, { title: 'ab', age: 7, photo: 'a.gif', more: [3] }])
      const two = formOf({ title: 'ab', photo, more: [photo, photo] })
      assert.deepEqual(await post(app, two), [200, { title: 'ab', photo: 'a.gif', more: [3, 3] }])
    })

    test('what does not fit is 400 and named', async () => {
      for (const [wrong, pointer] of [
        [{ title: 'a', photo }, '#/title'],
        [{ title: 'ab', photo: 'text' }, '#/photo'],
        [{ title: photo, photo }, '#/title'],
        [{ title: 'ab', age: 'x', photo }, '#/age'],
        [{ title: 'ab', photo: [photo, photo] }, '#/photo'],
      ] as const) {
        const [status, { code, errors }] = await post(app, formOf(wrong as never))
        assert.deepEqual([status, code, errors?.[0]?.pointer], [400, 'E_VALIDATION', pointer])
      }
      const [status, { code }] = await post(app, formOf({ title: 'ab' }))
      assert.deepEqual([status, code], [400, 'E_VALIDATION'])
    })

    test('other types are 415, and no body is 400', async () => {
      assert.equal((await post(app, { title: 'ab' }))[0], 415)
      assert.equal((await post(app, new URLSearchParams('title=ab')))[0], 415)
      assert.deepEqual(
        (await post(app, undefined)).map((each) => (typeof each === 'number' ? each : each.code)),
        [400, 'E_VALIDATION'],
      )
    })

    test('an independent validator accepts the document', async () => {
      const document = openapiOf(app, { info: { title: 't', version: '1' } })
      const { valid, errors } = await new Validator().validate(structuredClone(document) as {})
      assert.ok(valid, JSON.stringify(errors))
    })

    test('the document has the errors of a form', () => {
      const document = openapiOf(app, { info: { title: 't', version: '1' } })
      const { components, paths } = document as { components?: { responses?: object }; paths: object }
      const text = JSON.stringify([components?.responses, paths])
      for (const code of ['E_BODY_MALFORMED', 'E_BODY_TYPE', 'E_FORM_TOO_LARGE', 'E_BODY_TOO_LARGE'])
        assert.ok(text.includes(code), code)
      for (const code of ['E_JSON_DEPTH', 'E_BODY_TOO_MANY_KEYS']) assert.ok(!text.includes(code), code)
    })

    test('the document has the form', () => {
      const { paths, components } = openapiOf(app, { info: { title: 't', version: '1' } })
      const requestBody = bodyIn(paths)
      assert.deepEqual(Object.keys(requestBody.content), [consumes])
      const { properties, required } = requestBody.content[consumes].schema
      assert.deepEqual(properties.photo, binary)
      assert.deepEqual(properties.more, { type: 'array', items: binary })
      assert.ok(required.includes('photo'))
      assert.deepEqual(
        components?.schemas && Object.keys(components.schemas).filter((each) => /photo/i.test(each)),
        [],
      )
    })
  })
}

/** Gives the body of the only operation of a document. */
function bodyIn(paths: object): { content: Record<string, any> } {
  return (paths as { '/f': { post: { requestBody: { content: Record<string, any> } } } })['/f'].post
    .requestBody
}

describe('options', () => {
  test('consumes is checked', () => {
    for (const wrong of ['text/html', [], ['application/json'], 1]) {
      assert.throws(() => createApp().post('/', { consumes: wrong as never }, () => {}), {
        code: 'E_BAD_OPTION',
        message:
          /the route \/: consumes takes multipart\/form-data, application\/x-www-form-urlencoded, or an array/,
      })
    }
  })

  test('a file in the body of a route that is no form is refused, with what to write', () => {
    assert.throws(
      () => createApp().post('/', { body: z.object({ photo: z.file() }) }, () => {}),
      /#\/photo is a file.*consumes: 'multipart\/form-data'/,
    )
  })

  test('without a schema the body is the form', async () => {
    const app = createApp({ signals: false })
    app.post('/f', { consumes: [consumes, 'application/x-www-form-urlencoded'] }, async (ctx) => {
      assert.equal(await ctx.form(), ctx.body)
      return ctx.body as object
    })
    assert.deepEqual(await post(app, formOf({ a: ['1', '2'] })), [200, { a: ['1', '2'] }])
    assert.deepEqual(await post(app, new URLSearchParams('a=1')), [200, { a: '1' }])
    assert.equal((await post(app, {}))[0], 415)
  })

  test('urlencoded: numbers are converted', async () => {
    const app = createApp({ signals: false })
    const body = {
      type: 'object',
      properties: { n: { type: 'integer' }, list: { type: 'array', items: { type: 'boolean' } } },
    } as const
    app.post('/f', { consumes: 'application/x-www-form-urlencoded', body }, (ctx) => ctx.body)
    assert.deepEqual(await post(app, new URLSearchParams('n=7&list=true')), [200, { n: 7, list: [true] }])
    assert.equal((await post(app, formOf({ n: '7' })))[0], 415)
  })

  test('behind beforeBody', async () => {
    const app = createApp({ signals: false })
    const body = z.object({ a: z.string() })
    app.post('/f', { consumes, body, beforeBody: () => {} }, (ctx) => ctx.body)
    assert.deepEqual(await post(app, formOf({ a: '1' })), [200, { a: '1' }])
  })

  test('a stream: the schema is for callers, and the handler reads the parts', async () => {
    const app = createApp({ signals: false })
    app.post(
      '/f',
      {
        consumes,
        bodyMode: 'stream',
        body: z.object({
          photo: z.file().mime('image/gif'),
          either: z.file().mime(['image/gif', 'image/png']),
        }),
      },
      async (ctx) => {
        const names: string[] = []
        for await (const part of ctx.parts()) names.push(part.name)
        return names
      },
    )
    assert.deepEqual(await post(app, formOf({ other: '1' })), [200, ['other']])
    const { paths } = openapiOf(app, { info: { title: 't', version: '1' } })
    const requestBody = bodyIn(paths)
    // A list is what clients made of documents send as one type, so two types stand in the schema alone.
    assert.deepEqual(requestBody.content[consumes].encoding, { photo: { contentType: 'image/gif' } })
    const { either } = requestBody.content[consumes].schema.properties
    assert.deepEqual(either.anyOf, [{ contentMediaType: 'image/gif' }, { contentMediaType: 'image/png' }])
  })

  test('a body may be optional', async () => {
    const app = createApp({ signals: false })
    app.post('/f', { consumes, body: z.object({ a: z.string() }).optional() }, (ctx) => ({
      none: ctx.body === undefined,
    }))
    assert.deepEqual(await post(app, undefined), [200, { none: true }])
    assert.deepEqual(await post(app, formOf({ a: '1' })), [200, { none: false }])
  })
})

describe('clients', () => {
  const upload = contract.post('/cats/:id', {
    params: z.object({ id: z.string() }),
    consumes,
    body: z.object({
      title: z.string(),
      age: z.coerce.number<number>(),
      tags: z.array(z.string()),
      photo: z.file().mime('image/gif').optional(),
    }),
    response: z.object({ title: z.string(), age: z.number(), tags: z.array(z.string()), photo: z.string() }),
  })
  const subscribe = contract.post('/subscribe', {
    consumes: 'application/x-www-form-urlencoded',
    body: z.object({ email: z.string() }),
    response: z.object({ type: z.string(), email: z.string() }),
  })
  const tree = { cats: { upload }, subscribe }
  const app = createApp({ signals: false })
  app.implement(tree, {
    cats: { upload: ({ body }) => ({ ...body, photo: body.photo?.name ?? 'none' }) },
    subscribe: (ctx) => ({ ...ctx.body, type: ctx.headers['content-type'] ?? '' }),
  })
  app.expose(tree)

  const cat = { title: 'Ünï', age: 3, tags: ['one'] }
  for (const [how, client] of [
    ['contracts', createClient(tree, 'http://x', { fetch: (request) => app.fetch(request) })],
    [
      'the table of the server',
      createClient<typeof tree>('http://x', { fetch: (request) => app.fetch(request) }),
    ],
  ] as const) {
    test(`a client by ${how} sends forms`, async () => {
      const params = { id: '7' }
      const reply = await client.cats.upload({ params, body: { ...cat, photo } })
      assert.deepEqual(reply.data, { ...cat, photo: 'a.gif' })
      assert.deepEqual((await client.cats.upload({ params, body: cat })).data, { ...cat, photo: 'none' })
      const form = formOf({ title: 'a', age: '1', tags: ['x', 'y'], photo })
      assert.deepEqual((await client.cats.upload({ params, body: form })).data, {
        title: 'a',
        age: 1,
        tags: ['x', 'y'],
        photo: 'a.gif',
      })
      const wrong = await client.cats.upload({
        params,
        body: { ...cat, photo: new File([''], 'a.png', { type: 'image/png' }) },
      })
      assert.ok(!wrong.ok && wrong.code === 'E_VALIDATION')
      // @ts-expect-error -- a number is no title
      await assert.doesNotReject(client.cats.upload({ params, body: { ...cat, title: 1 } }))
      assert.deepEqual((await client.subscribe({ body: { email: 'a@b' } })).data, {
        email: 'a@b',
        type: 'application/x-www-form-urlencoded;charset=UTF-8',
      })
      await assert.rejects(client.cats.upload({ params, body: { ...cat, title: {} as never } }), TypeError)
    })
  }

  test('the generated file types files, and says which bodies are forms', () => {
    const { text, opaque } = clientFile(app)
    assert.match(text, /photo\?: File/)
    assert.match(text, /\} \| FormData,?\n/)
    assert.match(text, /'?cats\.upload'?.*"multipart\/form-data"\]/)
    assert.deepEqual(opaque, [])
  })

  test('handlers are typed by the form', () => {
    createApp().post(
      '/',
      {
        consumes,
        body: { type: 'object', properties: { photo: binary, n: { type: 'number' } }, required: ['photo'] },
      },
      ({ body }) => {
        const { photo, n }: { photo: File; n?: number } = body
        return [photo.name, n]
      },
    )
  })
})
