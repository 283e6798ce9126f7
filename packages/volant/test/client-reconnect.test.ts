/** When a socket of the client connects again, and how it ends: with a clock that a test moves. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ClientError, connect, createClient } from '../src/client/index.ts'
import {
  type Api,
  client,
  FakeSocket,
  open,
  PingingFakeSocket,
  routes,
  settled,
  watch,
  withClock,
} from './fake-socket.ts'

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

test('a status that no attempt can mend ends the socket at once', async () => {
  for (const [status, isFinal] of Object.entries({
    401: true,
    403: true,
    404: true,
    408: false,
    429: false,
    503: false,
  })) {
    await withClock(async () => {
      const { socket, errors } = await open()
      FakeSocket.last.end(1006, '', `Unexpected server response: ${status}`)
      assert.equal(socket.state, isFinal ? 'closed' : 'waiting', status)
      assert.deepEqual(
        errors.map((error) => (error as ClientError).status),
        isFinal ? [+status] : [],
      )
      socket.close()
    })
  }
})

test('close sends a close frame and ends with it', async () => {
  await withClock(async (pass) => {
    const { socket, closes, messages } = await open()
    FakeSocket.last.open()
    socket.close(4001, 'done')
    assert.equal(socket.state, 'closing')
    assert.deepEqual(FakeSocket.last.closed, [[4001, 'done']])
    assert.equal(socket.send({ text: 'late' }), false)
    FakeSocket.last.receive('{"text":"late"}')
    FakeSocket.last.end(4001, 'done')
    assert.deepEqual(closes, [{ code: 4001, reason: 'done', opened: true, final: true }])
    assert.deepEqual(messages, [])
    socket.close()
    await pass(60_000)
    assert.equal(closes.length, 1)
  })
})

test('a server that does not answer the close frame is not waited for', async () => {
  await withClock(async (pass) => {
    const { socket, closes, errors } = await open()
    FakeSocket.last.open()
    socket.close()
    await pass(4_999)
    assert.equal(socket.state, 'closing')
    await pass(1)
    assert.equal(socket.state, 'closed')
    assert.deepEqual(closes, [{ code: 1006, reason: '', opened: true, final: true }])
    assert.deepEqual(errors, [])
  })
})

test('close while it waits, or connects, ends the socket without another attempt', async () => {
  await withClock(async (pass) => {
    const connecting = await open()
    connecting.socket.close()
    assert.deepEqual(FakeSocket.last.closed, [[]])
    const waiting = await open()
    FakeSocket.last.open().end()
    waiting.socket.close()
    assert.deepEqual(waiting.closes.at(-1), { code: 1000, reason: '', opened: false, final: true })
    // Before the address is known.
    const early = connect(client.chat, { params: { room: 'a' } }, { WebSocket: FakeSocket })
    early.close()
    await pass(60_000)
    assert.equal(FakeSocket.made.length, 2)
  })
})

test('codes and reasons that no close frame of a client may have are refused', async () => {
  await withClock(async () => {
    const { socket } = await open()
    for (const code of [0, 999, 1001, 1005, 1006, 2999, 5000, 3000.5, Number.NaN]) {
      assert.throws(() => socket.close(code), {
        message: `a socket cannot be closed with the code ${code}: 1000, or 3000 to 4999`,
      })
    }
    assert.throws(() => socket.close(1000, 'ä'.repeat(62)), { name: 'TypeError' })
    assert.equal(socket.state, 'connecting')
    socket.close(1000, 'ä'.repeat(61))
    assert.equal(socket.state, 'closed')
  })
})

test('an attempt has its time', async () => {
  await withClock(async (pass) => {
    const { socket, closes } = await open({ connectTimeout: 100 })
    const first = FakeSocket.last
    await pass(100)
    assert.equal(socket.state, 'waiting')
    assert.equal(closes[0]?.error?.message, 'chat: no connection within 100 ms')
    // What the platform tells later belongs to nobody.
    first.open()
    first.end(1000)
    assert.equal(socket.state, 'waiting')
    assert.equal(closes.length, 1)
    socket.close()
  })
})

test('an error without a close event ends an attempt', async () => {
  await withClock(async (pass) => {
    const { socket, closes } = await open()
    FakeSocket.last.onerror?.({ message: 'refused' })
    await pass(0)
    assert.equal(socket.state, 'waiting')
    assert.deepEqual(
      closes.map(({ code, error }) => [code, error?.message]),
      [[1006, 'chat: no connection to wss://api.test/v1/chat/a: refused']],
    )
    socket.close()
  })
})

test('a signal closes the socket, and its loops throw the reason', async () => {
  await withClock(async () => {
    const controller = new AbortController()
    const { socket, closes, errors } = await open({ signal: controller.signal })
    FakeSocket.last.open()
    const loop = socket[Symbol.asyncIterator]()
    const next = loop.next()
    const reason = new Error('enough')
    controller.abort(reason)
    await assert.rejects(next, reason)
    assert.equal(socket.state, 'closed')
    assert.equal(closes.length, 1)
    assert.deepEqual(errors, [])
    assert.equal(FakeSocket.last.closed.length, 1)

    const early = await open({ signal: controller.signal })
    assert.equal(early.socket.state, 'closed')
    assert.equal(early.closes.length, 1)
    assert.equal(FakeSocket.made.length, 1)
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

test('a connection that does not answer a ping is lost', async () => {
  await withClock(async (pass) => {
    const { socket, closes } = await open({ WebSocket: PingingFakeSocket })
    const platform = FakeSocket.last as PingingFakeSocket
    platform.open()
    await pass(30_000)
    platform.receive('{"text":"a"}')
    await pass(30_000)
    assert.equal(platform.pings, 0)
    await pass(30_000)
    assert.equal(platform.pings, 1)
    platform.pong()
    await pass(30_000)
    assert.equal(socket.state, 'open')
    await pass(30_000)
    assert.equal(platform.pings, 2)
    await pass(30_000)
    assert.equal(socket.state, 'waiting')
    assert.equal(closes[0]?.code, 1006)
    assert.match(closes[0]?.error?.message ?? '', /^nothing came within 30000 ms/)
    socket.close()
  })
})

test('a heartbeat can be a message, another time, or off', async () => {
  await withClock(async (pass) => {
    const { socket } = await open({ heartbeat: { interval: 1_000, message: { text: 'ping' } } })
    FakeSocket.last.open()
    await pass(1_000)
    await pass(1_000)
    assert.deepEqual(FakeSocket.last.sent, ['{"text":"ping"}'])
    FakeSocket.last.receive('{"text":"pong"}')
    await pass(1_000)
    assert.equal(socket.state, 'open')
    await pass(1_000)
    await pass(1_000)
    assert.equal(socket.state, 'waiting')
    socket.close()

    // A browser has no pings.
    const page = await open()
    FakeSocket.last.open()
    await pass(600_000)
    assert.equal(page.socket.state, 'open')
    page.socket.close()

    const off = await open({ WebSocket: PingingFakeSocket, heartbeat: false })
    FakeSocket.last.open()
    await pass(600_000)
    assert.equal(off.socket.state, 'open')
    assert.equal((FakeSocket.last as PingingFakeSocket).pings, 0)
    off.socket.close()
  })
})

test('a function that fails is tried again like a connection', async () => {
  await withClock(async (pass) => {
    let attempts = 0
    const socket = connect(
      client.raw,
      () => {
        if (attempts++ === 0) throw new TypeError('fetch failed')
        return {}
      },
      { WebSocket: FakeSocket },
    )
    const { closes } = watch(socket)
    await settled()
    assert.equal(socket.state, 'waiting')
    assert.equal(closes[0]?.error?.message, 'raw: the function of input threw: fetch failed')
    await pass(250)
    assert.equal(FakeSocket.made.length, 1)
    socket.close()
  })
})

test('while the table of routes cannot be had, the attempts go on', async () => {
  await withClock(async (pass) => {
    const replies = [new Response('', { status: 503 }), Response.json(routes)]
    const lazy = createClient<Api>('https://api.test', { fetch: async () => replies.shift() as Response })
    const socket = connect(lazy.raw, {}, { WebSocket: FakeSocket })
    await settled()
    assert.equal(socket.state, 'waiting')
    await pass(250)
    FakeSocket.last.open()
    assert.equal(socket.state, 'open')
    socket.close()

    const wrong = createClient<Api>('https://api.test', {
      fetch: async () => new Response('', { status: 404 }),
    })
    const never = connect(wrong.raw, {}, { WebSocket: FakeSocket })
    const { errors } = watch(never)
    await settled()
    assert.equal(never.state, 'closed')
    assert.equal((errors[0] as ClientError).status, 404)
  })
})

test('the words of Bun have the status, and no secret of the query comes with them', async () => {
  await withClock(async () => {
    const socket = connect(client.raw, { query: { token: 'secret' } }, { WebSocket: FakeSocket })
    const { errors } = watch(socket)
    await settled()
    const { url } = FakeSocket.last
    assert.match(url, /secret/)
    FakeSocket.last.end(1006, '', `WebSocket connection to '${url}' failed: Expected 101 status code: 403`)
    assert.equal(socket.state, 'closed')
    assert.deepEqual(
      errors.map((error) => [(error as ClientError).status, error.message]),
      [
        [
          403,
          "raw: no connection to wss://api.test/v1/raw: WebSocket connection to 'wss://api.test/v1/raw' failed: Expected 101 status code: 403",
        ],
      ],
    )
  })
})
