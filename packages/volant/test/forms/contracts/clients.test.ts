/** What clients send to a route that declares a form. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { contract, createApp } from 'volant'
import { createClient } from 'volant/client'
import { clientFile } from 'volant/generate'
import { z } from 'zod'
import { formOf } from './kit.ts'

const consumes = 'multipart/form-data'

const photo = new File(['GIF'], 'a.gif', { type: 'image/gif' })

const binary = { type: 'string', format: 'binary' } as const

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
