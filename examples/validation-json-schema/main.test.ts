import assert from 'node:assert/strict'
import { after, test } from 'node:test'

process.env.PORT = '0'
const { app, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))

const create = (body: unknown) =>
  fetch(`${url}/users`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

const issues = async (reply: Response) => {
  assert.equal(reply.status, 400)
  const { errors } = (await reply.json()) as { errors: { in: string; pointer: string; detail: string }[] }
  return errors.map(({ in: part, pointer, detail }) => `${part} ${pointer} ${detail}`)
}

test('defaults are filled in', async () => {
  const reply = await create({ name: 'Ada' })
  assert.equal(reply.status, 201)
  assert.deepEqual(await reply.json(), { id: 1, name: 'Ada', tags: [] })
})

test('text becomes what the schema asks for', async () => {
  assert.deepEqual(await (await fetch(`${url}/users/6?field=name`)).json(), {
    id: 7,
    limit: 20,
    fields: ['name'],
  })
})

test('all that is wrong is told', async () => {
  assert.deepEqual(await issues(await create({ mail: 'ada', tags: ['a', 'a'] })), [
    'body #/name is required',
    'body #/mail must match format "email"',
    'body #/tags must not have the same item twice',
  ])
  assert.deepEqual(await issues(await fetch(`${url}/users/0x7?limit=1e3&filed=name`)), [
    'params #/id must be integer',
    'query #/filed is not declared',
    'query #/limit must be <= 100',
  ])
})
