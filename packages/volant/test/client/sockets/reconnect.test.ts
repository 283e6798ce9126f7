/** When a socket of the client connects again: with a clock that a test moves. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ClientError } from '../../../src/client/index.ts'
import { FakeSocket, open, settled, withClock } from './fake-socket.ts'

test('a lost connection is made again, and open says so', async () => {
  for (const code of [1001, 1006, 1011, 1012, 1013, 1014]) {
    await withClock(async (pass) => {
      const { socket, opens, closes, errors } = await open()
      FakeSocket.last.open().end(code, 'why')
      assert.equal(socket.state, 'waiting')
      assert.deepEqual(closes, [{ code, reason: 'why', opened: true, final: false, retryIn: 250 }])
      await pass(249)
      assert.equal(FakeSocket.made.length, 1)
      await pass(1)
      assert.equal(FakeSocket.made.length, 2)
      FakeSocket.last.open()
      assert.deepEqual(opens, [false, true])
      assert.deepEqual(errors, [])
      socket.close()
    })
  }
})

test('a connection that was closed on purpose is not made again', async () => {
  for (const code of [1000, 1002, 1003, 1005, 1007, 1008, 1009, 3000, 4000, 4999]) {
    await withClock(async (pass) => {
      const { socket, closes, errors } = await open()
      FakeSocket.last.open().end(code, 'why')
      assert.equal(socket.state, 'closed')
      const end = { code, reason: 'why', opened: true, final: true }
      assert.deepEqual(closes, [end])
      assert.deepEqual(await socket.closed, end)
      await pass(60_000)
      assert.equal(FakeSocket.made.length, 1)
      assert.deepEqual(errors, [])
    })
  }
})

test('the user decides after which ends it is made again', async () => {
  await withClock(async () => {
    const when = ({ code, reason }: { code: number; reason: string }): boolean =>
      code === 4001 && reason === 'renew'
    const one = await open({ reconnect: { when } })
    FakeSocket.last.open().end(4001, 'renew')
    assert.equal(one.socket.state, 'waiting')
    one.socket.close()
    const other = await open({ reconnect: { when } })
    FakeSocket.last.open().end(1012)
    assert.equal(other.socket.state, 'closed')
  })
})

test('waits double up to their bound, each a random part of it', async () => {
  await withClock(async (pass, wait) => {
    const { socket, closes } = await open()
    FakeSocket.last.open().end(1006)
    for (let tries = 0; tries < 9; tries++) {
      await pass(30_000)
      FakeSocket.last.end()
    }
    assert.deepEqual(
      closes.map(({ retryIn }) => retryIn),
      [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000],
    )
    wait(0.25)
    await pass(30_000)
    FakeSocket.last.end()
    assert.equal(closes.at(-1)?.retryIn, 7_500)
    socket.close()
  })
})

test('waits begin anew after a stable connection, and go on after one that was short', async () => {
  await withClock(async (pass) => {
    const { socket, closes } = await open({ reconnect: { delay: 100, maxDelay: 1_000, stableAfter: 50 } })
    FakeSocket.last.open().end()
    await pass(100)
    FakeSocket.last.open()
    await pass(49)
    FakeSocket.last.end()
    await pass(200)
    FakeSocket.last.open()
    await pass(50)
    FakeSocket.last.end()
    assert.deepEqual(
      closes.map(({ retryIn }) => retryIn),
      [100, 200, 100],
    )
    socket.close()
  })
})

test('a socket that never was open gives up, and says why', async () => {
  await withClock(async (pass) => {
    const { socket, closes, errors, dropped } = await open()
    socket.send({ text: 'lost' })
    for (let tries = 0; tries < 10; tries++) {
      FakeSocket.last.end(1006, '', 'connect ECONNREFUSED')
      await pass(30_000)
    }
    assert.equal(socket.state, 'connecting')
    FakeSocket.last.end(1006, '', 'connect ECONNREFUSED')
    assert.equal(socket.state, 'closed')
    assert.equal(FakeSocket.made.length, 11)
    assert.equal(closes.at(-1)?.final, true)
    assert.deepEqual(dropped, [{ text: 'lost' }])
    assert.equal(errors.length, 1)
    assert.ok(errors[0] instanceof ClientError)
    assert.match(
      errors[0].message,
      /^chat: there is no connection to wss:\/\/api\.test\/v1\/chat\/a, and no further attempt is made: connect ECONNREFUSED\. /,
    )
  })
})

test('a socket that was open once tries on', async () => {
  await withClock(async (pass) => {
    const { socket } = await open()
    FakeSocket.last.open().end()
    for (let tries = 0; tries < 50; tries++) {
      await pass(30_000)
      FakeSocket.last.end()
    }
    assert.equal(socket.state, 'waiting')
    assert.equal(FakeSocket.made.length, 51)
    socket.close()
  })
})

test('the number of retries can be set, and reconnect: false is none', async () => {
  await withClock(async (pass) => {
    const some = await open({ reconnect: { retries: 2 } })
    FakeSocket.last.open().end()
    for (let tries = 0; tries < 2; tries++) {
      await pass(30_000)
      FakeSocket.last.end()
    }
    assert.equal(FakeSocket.made.length, 3)
    assert.equal(some.socket.state, 'closed')
    assert.equal(some.errors.length, 1)

    const none = await open({ reconnect: false })
    FakeSocket.last.open().end()
    assert.equal(none.socket.state, 'closed')
    assert.match(
      none.errors[0]?.message ?? '',
      /^chat: the connection to .* is lost, and no further attempt is made$/,
    )

    const never = await open({ reconnect: false })
    FakeSocket.last.end()
    assert.equal(never.socket.state, 'closed')
  })
})

test('a page that is online again does not wait', async () => {
  await withClock(async () => {
    const page = new EventTarget()
    const given = globalThis as { addEventListener?: unknown; removeEventListener?: unknown }
    const before = [given.addEventListener, given.removeEventListener]
    given.addEventListener = page.addEventListener.bind(page)
    given.removeEventListener = page.removeEventListener.bind(page)
    try {
      const { socket } = await open()
      FakeSocket.last.open().end()
      page.dispatchEvent(new Event('online'))
      await settled()
      assert.equal(FakeSocket.made.length, 2)
      FakeSocket.last.end()
      socket.close()
      page.dispatchEvent(new Event('online'))
      await settled()
      assert.equal(FakeSocket.made.length, 2)
    } finally {
      ;[given.addEventListener, given.removeEventListener] = before
    }
  })
})
