/** Sessions in a Redis that fails or forgets: 503 or a new session, and all is well once it answers. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { eventually, RedisServer, testClock, turns, within } from '@volant/test-kit'
import { ask, build, onEachClient, reports, signIn } from './session-store.ts'

onEachClient((place) => {
  const { send } = place

  test('after SCRIPT FLUSH all is as before, and after FLUSHALL people sign in again', async () => {
    const app = build(place.client.store)
    const cookie = await signIn(app)
    await send('SCRIPT', 'FLUSH')
    assert.equal((await ask(app, 'GET', '/in', cookie)).text, '1')
    await send('FLUSHALL')
    const reply = await ask(app, 'GET', '/in', cookie)
    assert.deepEqual([reply.status, reply.text], [200, '0'])
    assert.equal((await ask(app, 'GET', '/in', await signIn(app))).text, '1')
  })

  test('errors of the server are 503, and reported once', async () => {
    const app = build(place.client.store)
    await send('FLUSHALL')
    const cookie = await signIn(app)
    const [key] = (await send('KEYS', '*')) as string[]
    await send('DEL', String(key))
    await send('RPUSH', String(key), 'no session')
    reports.length = 0
    for (let each = 0; each < 3; each++) {
      const reply = await ask(app, 'GET', '/in', cookie)
      assert.deepEqual([reply.status, reply.headers['retry-after']], [503, '1'])
    }
    assert.equal(reports.length, 1)
    assert.match(reports[0] as string, /the store of sessions fails \(.*WRONGTYPE/)
    await send('DEL', String(key))
    await send('SET', String(key), 'garbage')
    assert.equal((await ask(app, 'GET', '/in', cookie)).status, 503)
    await send('DEL', String(key))
  })

  test('a server that stops answering: 503 in time, and the store is left alone', async (t) => {
    const clock = testClock(t)
    const app = build(place.client.store, { storeTimeout: 50 })
    const cookie = await signIn(build(place.client.store))
    /** Lets the store's time pass for a request that has asked it. */
    const inTime = async (reply: ReturnType<typeof ask>): ReturnType<typeof ask> => {
      await turns()
      await clock.advance(50)
      return reply
    }
    const atOnce = (reply: ReturnType<typeof ask>): ReturnType<typeof ask> => within(reply, 'the reply')
    /** Reads and writes a session, and waits for the replies by `answer`. */
    const readAndWrite = async (answer: typeof inTime): Promise<unknown> => {
      const { status } = await answer(ask(app, 'GET', '/in', cookie))
      const written = await answer(ask(app, 'POST', '/in'))
      return [status, written.status, written.cookie]
    }
    const unavailable = [503, 503, '']
    try {
      let replies: unknown[]
      do {
        await place.server.stop()
        replies = []
        // Five failures open the circuit.
        for (let each = 0; each < 3; each++) replies.push(await readAndWrite(inTime))
        // It answers in time if another process lets it go on.
      } while (!isDeepStrictEqual(replies, Array(3).fill(unavailable)) && place.server.hasRun())
      assert.deepEqual(replies, Array(3).fill(unavailable))
      // No time passes any more: who waited for the store would wait for ever.
      for (let each = 0; each < 200; each++) assert.deepEqual(await readAndWrite(atOnce), unavailable)
      // Requests without the cookie that change nothing need no store.
      assert.equal((await ask(app, 'GET', '/in')).status, 200)
    } finally {
      place.server.goOn()
    }
    await clock.advance(1_000)
    assert.equal((await ask(app, 'GET', '/in', cookie)).text, '1')
  })

  test('a server that dies under load, and comes back', async () => {
    const app = build(place.client.store, { storeTimeout: 1_000 })
    let answered = 0
    let unavailable = 0
    let stop = false
    const load = Array.from({ length: 8 }, async () => {
      let cookie = ''
      let kept = 0
      while (!stop) {
        const reply = await ask(app, 'POST', `/set/k${kept}`, cookie)
        assert.ok(reply.status === 200 || reply.status === 409 || reply.status === 503)
        answered++
        if (reply.status === 503) {
          unavailable++
          assert.equal(reply.cookie, '')
          await turns(1)
        } else if (reply.status === 409) cookie = ''
        // A server without its data knows no session, so that another one begins.
        else if (reply.cookie !== '') [cookie, kept] = [reply.cookie, 0]
        else kept++
      }
      return cookie
    })
    await eventually(() => answered > 200, 'requests are answered')
    await place.server.kill()
    const before = unavailable
    await eventually(() => unavailable > before + 100, 'requests are answered without the store')
    await place.server.start()
    const after = answered - unavailable
    await eventually(() => answered - unavailable > after + 200, 'sessions are written again')
    stop = true
    for (const cookie of await Promise.all(load)) {
      assert.notEqual((await ask(app, 'GET', '/count', cookie)).status, 500)
    }
  })

  test('a server that is not there at the start', async () => {
    const late = await RedisServer.make()
    const other = place.connect(late.port)
    try {
      const app = build(other.store)
      const refused = await ask(app, 'POST', '/in')
      assert.deepEqual([refused.status, refused.cookie], [503, ''])
      await late.start()
      await eventually(() => other.isReady(), 'the client is connected')
      await eventually(async () => (await ask(app, 'POST', '/in')).status === 200, 'people sign in')
    } finally {
      other.end()
      await late.end()
    }
  })
})
