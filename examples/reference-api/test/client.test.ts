/** The service through its typed client: by its contracts, and by nothing but its URL. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createClient, type Client } from 'volant/client'
import { api } from '../src/api.ts'
import { reference } from '../src/profiles/reference.ts'

const folder = mkdtempSync(join(tmpdir(), 'reference-client-'))
const app = reference(
  { signals: false },
  {
    database: join(folder, 'test.db'),
    token: 'secret',
    publicFigures: true,
    publicDocs: true,
    // Its guard against load does not refuse requests on a machine that is busy with other tests.
    maxEventLoopDelay: 9_999,
  },
)
let url = ''
let client: Client<typeof api>

before(async () => {
  ;({ url } = await app.listen({ port: 0, host: '127.0.0.1' }))
  client = createClient(api, url, { headers: { authorization: 'Bearer secret' } })
})

after(async () => {
  await app.close({ drainIdle: 0 })
  rmSync(folder, { recursive: true })
})

test('plain replies', async () => {
  assert.deepEqual((await client.json()).data, { message: 'Hello World' })
  const records = await client.bigJson()
  assert.equal(records.data.length, 200)
  assert.deepEqual(records.data[199], { id: 199, title: 'Software engineer', employer: 'acme corp' })
  assert.ok((await client.memory()).data.rss > 0)
})

test('users page after page', async () => {
  const seen: number[] = []
  let after = '0'
  for (let page = 0; page < 3; page++) {
    const reply = await client.users.list({ query: { after, limit: '2' } })
    assert.ok(reply.ok)
    seen.push(...reply.data.users.map(({ id }) => id))
    after = new URL(reply.data.next ?? '', url).searchParams.get('after') ?? ''
  }
  assert.deepEqual(seen, [1, 2, 3, 4, 5, 6])
  const wrong = await client.users.list({ query: { limit: '101' } })
  assert.ok(!wrong.ok && wrong.code === 'E_VALIDATION')
  assert.deepEqual(
    wrong.issues.map((issue) => `${issue.in} ${issue.pointer}`),
    ['query #/limit'],
  )
})

test('one user, or the reason why not', async () => {
  const found = await client.users.find({ params: { id: '123' } })
  assert.ok(found.ok)
  assert.deepEqual(found.data.user, { id: 123, name: 'User 123', email: 'user123@example.com', age: 21 })

  const missing = await client.users.find({ params: { id: '999999' } })
  assert.ok(!missing.ok && missing.code === 'USER_NOT_FOUND')
  assert.deepEqual(
    [missing.status, missing.data.id, missing.detail],
    [404, 999_999, 'There is no user 999999'],
  )
})

test('a user is added once', async () => {
  const body = { name: 'Ada', email: 'ada@example.com', age: 36 }
  const added = await client.users.add({ body })
  assert.ok(added.ok && added.status === 201)
  assert.deepEqual(added.data.user, { id: added.data.user.id, ...body })
  assert.equal(added.response.headers.get('location'), `/api/users/${added.data.user.id}`)
  const again = await client.users.add({ body })
  assert.ok(!again.ok && again.code === 'EMAIL_TAKEN')
  assert.equal(again.status, 409)
})

test('a client with nothing but the URL and the types', async () => {
  const other = createClient<typeof api>(url)
  assert.deepEqual((await other.json()).data, { message: 'Hello World' })
  const refused = await other.users.list({ query: { limit: '0' } })
  assert.ok(!refused.ok)
  const stranger = await other.users.find({ params: { id: '1' } })
  assert.ok(!stranger.ok && stranger.code === 'E_UNAUTHORIZED')
  const badge = await other.badge({ params: { label: 'build', value: 'passing' } })
  assert.equal(badge.response.headers.get('content-type'), 'image/svg+xml; charset=utf-8')
  await badge.response.body?.cancel()
})
