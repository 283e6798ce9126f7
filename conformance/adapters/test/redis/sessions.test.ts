/** Sessions in Redis are those of every process, for as long as they last. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type App } from 'volant'
import { eventually } from '@volant/test-kit'
import { ask, build, onEachClient, signIn } from './session-store.ts'

onEachClient((place) => {
  const { send } = place

  test('a session is there for every process, under a digest, for as long as it lasts', async () => {
    const cookie = await signIn(build(place.client.store))
    assert.equal((await ask(build(place.client.store), 'GET', '/in', cookie)).text, '1')
    const keys = (await send('KEYS', '*')) as string[]
    assert.equal(keys.length, 1)
    assert.match(String(keys[0]), /^volant-session:[\w-]{43}$/)
    const [, secret = ''] = cookie.split('=')
    assert.ok(!String(keys[0]).includes(secret))
    const left = Number(await send('PTTL', String(keys[0])))
    assert.ok(left > 1_700_000 && left <= 1_800_000, String(left))
    assert.equal((await ask(build(place.client.store), 'POST', '/out', cookie)).status, 200)
    assert.equal((await send('DBSIZE')) as number, 0)
  })

  test('two clients that write one session lose none of its keys', async () => {
    const other = place.connect(place.server.port)
    try {
      await eventually(() => other.isReady(), 'the client is connected')
      const apps = [build(place.client.store), build(other.store)] as const
      const cookie = await signIn(apps[0])
      const replies = await Promise.all(
        Array.from({ length: 100 }, (_, at) => ask(apps[at % 2] as App, 'POST', `/set/k${at}`, cookie)),
      )
      assert.ok(replies.every(({ status }) => status === 200))
      assert.equal((await ask(apps[1], 'GET', '/count', cookie)).text, '100')
    } finally {
      other.end()
    }
  })

  test('versions, and a touch', async () => {
    const { store } = place.client
    const record = (version: number, ttl = 60_000) => ({ value: `v ${version}\n"ü`, version, ttl })
    assert.equal(await store.get('a'), null)
    assert.equal(await store.set('a', record(2)), false)
    assert.equal(await store.set('a', record(1)), true)
    assert.equal(await store.set('a', record(1)), false)
    assert.equal(await store.set('a', record(2)), true)
    assert.equal((await store.get('a'))?.value, 'v 2\n"ü')
    await store.touch('a', 120_000)
    assert.ok(((await store.get('a'))?.ttl ?? 0) > 100_000)
    await store.touch('b', 1_000)
    assert.equal(await store.get('b'), null)
    await store.set('c', record(1, 20_000))
    const left = Number(await send('PTTL', 'volant-session:c'))
    assert.ok(left > 10_000 && left <= 20_000, String(left))
    // As if its time were over.
    await send('PEXPIREAT', 'volant-session:c', '1')
    assert.equal(await store.get('c'), null)
    await store.destroy('a')
    assert.equal(await store.get('a'), null)
  })
})
