import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type } from 'arktype'
import * as v from 'valibot'
import { validate, type VolantError } from 'volant'
import * as z from 'zod'
import { Kit } from '../kit.ts'

const kit = new Kit()

describe('validation', () => {
  describe('a body that asks for a file', () => {
    const Photo = z.file()
    for (const [name, body, pointer] of [
      ['z.file()', Photo, '#'],
      [
        'a property, with its place',
        z.object({ 'a/b': z.object({ photo: Photo.optional() }) }),
        '#/a~1b/photo',
      ],
      ['an extended object', z.object({ a: z.string() }).extend({ photo: z.instanceof(File) }), '#/photo'],
      ['items', z.array(z.instanceof(Blob)).max(3).nullable(), '#/*'],
      ['a choice of files', z.union([z.file().min(5), z.tuple([z.file()])]), '#'],
      ['Valibot', v.object({ photo: v.optional(v.pipe(v.file(), v.maxSize(5))) }), '#/photo'],
      ['Valibot, an instance', v.array(v.instance(File)), '#/*'],
      ['ArkType', type({ photo: 'File' }), '#'],
    ] as const) {
      test(`is refused with the route and what to write: ${name}`, () => {
        const app = kit.app()
        for (const [register, where] of [
          [() => app.post('/photos/:id', { body: body as never }, () => 1), '/photos/:id: body'],
          [() => validate({ body: body as never }), 'validate: body'],
        ] as const) {
          assert.throws(register, ({ code, message }: VolantError) => {
            assert.equal(code, 'E_BAD_SCHEMA')
            assert.ok(message.startsWith(`${where}: ${pointer} is a file, `), message)
            assert.match(message, /consumes: 'multipart\/form-data'/)
            return true
          })
        }
      })
    }

    test('is fine where something else will do, and nothing lazy is asked', async () => {
      const asked = (): never => assert.fail('a getter was asked')
      const Tree = z.object({
        name: z.string(),
        get kids(): z.ZodArray<typeof Tree> {
          return asked()
        },
      })
      const app = kit.app()
      app.post('/tree', { body: Tree }, () => 1)
      app.post('/lazy', { body: z.object({ x: z.lazy(asked) }) }, () => 1)
      app.post('/either', { body: z.object({ x: z.union([z.file(), z.string()]) }) }, () => 'ok')
      app.post('/type', { body: type({ x: 'File | string' }) }, () => 'ok')
      for (const path of ['/either', '/type'])
        assert.equal((await app.inject({ method: 'POST', url: path, body: { x: 'y' } })).status, 200)
    })

    test('the way that the message names works', async () => {
      const app = kit.app()
      const body = z.object({ photo: z.file() })
      app.post('/photos', { consumes: 'multipart/form-data', body }, ({ body: { photo } }) => {
        return { name: photo.name, size: photo.size }
      })
      const form = new FormData()
      form.append('photo', new File(['12345'], 'a.png'))
      const request = new Request('http://localhost/photos', { method: 'POST', body: form })
      const reply = await app.inject({
        method: 'POST',
        url: '/photos',
        headers: { 'content-type': request.headers.get('content-type') as string },
        body: Buffer.from(await request.arrayBuffer()),
      })
      assert.deepEqual([reply.status, reply.json()], [200, { name: 'a.png', size: 5 }])
    })
  })
})
