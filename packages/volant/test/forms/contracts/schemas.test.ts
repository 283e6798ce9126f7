/** Routes that declare a form, by each library of schemas: what is checked, and what the document shows. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import Type from 'typebox'
import { type } from 'arktype'
import * as v from 'valibot'
import { createApp, openapiOf, type Schema } from 'volant'
import { z } from 'zod'
import { bodyIn, formOf, post } from './kit.ts'

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
