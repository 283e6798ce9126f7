/** An attempt to connect that fails. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ClientError, connect, createClient } from '../../../src/client/index.ts'
import { type Api, client, FakeSocket, open, routes, settled, watch, withClock } from './fake-socket.ts'

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
