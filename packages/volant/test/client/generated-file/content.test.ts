/** The table in a generated file, and what has no type there. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as z from 'zod'
import { clientFile } from '../../../src/generate/client-file.ts'
import { contract, createApp } from '../../../src/index.ts'
import { api, app } from './api.ts'

test('the table is that of /client.json, and contracts do without an app', async () => {
  const { javascript } = clientFile(app)
  const url = `data:text/javascript,${encodeURIComponent(javascript)}`
  const { routes } = (await import(url)) as { routes: unknown }
  assert.deepEqual(routes, (await app.inject('/client.json')).json())
  const tree = {
    a: {
      'b-c': contract.post('/x/:id', { body: z.object({ n: z.number() }), errors: { E: { status: 400 } } }),
    },
  }
  const sockets = { chat: contract.ws('/chat/:room', { in: z.object({ n: z.number() }) }) }
  assert.match(
    clientFile(sockets).text,
    /chat: Socket<\n {4}\{[^]*room: PathValue[^]*\},\n {4}\{\n {6}n: number\n {4}\},\n {4}RawMessage\n {2}>[^]*\["WS","\/chat\/:room",\["in"\]\]/,
  )
  const { text } = clientFile(tree)
  assert.match(text, /"a\.b-c": \["POST","\/x\/:id",\["E 400","E_VALIDATION 400"\]\]/)
  assert.match(text, / {2}a: \{\n {4}\/\*\* `POST \/x\/:id` \*\/\n {4}"b-c": Operation</)
  assert.match(
    clientFile(api).text,
    /"users\.get": \["GET","\/users\/:id",\[200,"USER_NOT_FOUND 404","GONE \d+",/,
  )
})

test('parts without JSON Schema are named with their places', () => {
  const body = z.object({ 'a/b': z.custom<string>(), at: z.date(), n: z.coerce.number() })
  const response = z.array(z.object({ a: z.string().transform(Number), b: z.unknown() }))
  const { opaque, text } = clientFile({ x: contract.post('/x', { body, response }) })
  assert.deepEqual(opaque, [
    'x: body at #/a~1b is unknown: a custom has no JSON Schema',
    'x: response 200 at #/*/a is unknown: a transform has no JSON Schema',
  ])
  assert.match(text, /"a\/b": unknown/)
  assert.doesNotMatch(text, /hole/)
})

test('what has no JSON Schema is named, and what is no API refused', () => {
  const strange = {
    '~standard': { version: 1, vendor: 'strange', validate: (value: unknown) => ({ value }) },
  } as const
  const made = createApp({ signals: false })
  made.expose({
    odd: made.post('/odd', { body: strange, response: { 201: strange } }, (ctx) => ctx.reply(201, 1)),
  })
  const { opaque, text } = clientFile(made)
  assert.equal(opaque.length, 2)
  assert.match(opaque[0] as string, /^odd: body is unknown: /)
  assert.match(text, /body\?: unknown/)
  assert.match(text, /Success<201, unknown>/)
  assert.throws(() => clientFile(createApp({ signals: false })), {
    code: 'E_BAD_OPTION',
    message: /exposes nothing/,
  })
  for (const value of [null, 5, 'x', { a: 1 }])
    assert.throws(() => clientFile(value as never), { code: 'E_BAD_OPTION' })
})
