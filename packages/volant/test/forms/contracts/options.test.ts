/** What a route with a form may declare. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createApp, openapiOf } from 'volant'
import { z } from 'zod'
import { bodyIn, formOf, post } from './kit.ts'

const consumes = 'multipart/form-data'

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
