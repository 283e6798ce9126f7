import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { PostgresServer, withoutPostgres } from '@volant/test-kit'

describe('PostgreSQL', { skip: withoutPostgres }, async () => {
  if (withoutPostgres !== false) return
  const server = await (await PostgresServer.make()).start()
  process.env.DATABASE_URL = server.url
  process.env.PORT = '0'
  process.env.DATABASE_TIMEOUT = '60000' // a busy machine may not answer within the defaults
  const { app, url } = await import('./main.ts')
  after(async () => {
    await app.close({ drainIdle: 0 })
    await server.end()
  })

  const send = (method: string, path: string, body: object): Promise<Response> =>
    fetch(url + path, {
      method,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const centsOf = async (id: string): Promise<number> =>
    ((await (await fetch(`${url}/accounts/${id}`)).json()) as { cents: number }).cents

  test('a transfer moves money whole, or not at all', async () => {
    await send('PUT', '/accounts/ada', { cents: 500 })
    await send('PUT', "/accounts/bob'; drop table accounts; --", { cents: 1 })
    await send('PUT', '/accounts/bob', { cents: 1 })
    assert.equal((await send('POST', '/transfers', { from: 'ada', to: 'bob', cents: 200 })).status, 204)
    assert.deepEqual([await centsOf('ada'), await centsOf('bob')], [300, 201])
    const more = await send('POST', '/transfers', { from: 'ada', to: 'bob', cents: 301 })
    assert.equal(((await more.json()) as { code: string }).code, 'NO_FUNDS')
    assert.equal((await send('POST', '/transfers', { from: 'ada', to: 'eve', cents: 1 })).status, 404)
    assert.deepEqual([await centsOf('ada'), await centsOf('bob')], [300, 201])
    assert.equal((await fetch(`${url}/accounts/eve`)).status, 404)
  })

  test('transfers at once, in both directions, neither lose money nor block each other', async () => {
    await send('PUT', '/accounts/one', { cents: 1_000 })
    await send('PUT', '/accounts/two', { cents: 1_000 })
    const replies = await Promise.all(
      Array.from({ length: 40 }, (_, at) =>
        send('POST', '/transfers', { from: at % 2 ? 'one' : 'two', to: at % 2 ? 'two' : 'one', cents: 7 }),
      ),
    )
    assert.ok(replies.every(({ status }) => status === 204))
    assert.deepEqual([await centsOf('one'), await centsOf('two')], [1_000, 1_000])
  })

  test('a database that goes away is a 500 and not ready, and the process lives until it is back', async () => {
    assert.equal((await fetch(`${url}/ready`)).status, 200)
    await server.kill()
    assert.equal((await fetch(`${url}/accounts/ada`)).status, 500)
    assert.equal((await fetch(`${url}/ready`)).status, 503)
    await server.start()
    assert.equal((await fetch(`${url}/ready`)).status, 200)
    assert.equal(await centsOf('ada'), 300)
  })
})
