/** Sockets of the client against `app.ws`: what its types say is what comes and goes. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { WebSocket } from 'ws'
import * as z from 'zod'
import {
  type ClientError,
  type ClientSocket,
  connect,
  createClient,
  type LooseSocketInput,
  type RawMessage,
  type SocketOperation,
} from '../../../src/client/index.ts'
import { contract, createApp, middleware } from '../../../src/index.ts'
import { deferred } from '../../kit.ts'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const same = <A, B>(value: Same<A, B>): void => assert.ok(value)
type Flat<T> = T extends object ? { [K in keyof T]: Flat<T[K]> } : T
type Parts<O> =
  O extends SocketOperation<infer Input, infer Sent, infer Received> ? [Input, Sent, Received] : never

const app = createApp({ signals: false, adapter: { type: 'node-http' }, limits: { drainIdle: 0 } })
const known = middleware({ errors: { SIGN_IN: { status: 401 } } }, (ctx, next) => {
  if (ctx.headers['authorization'] === undefined) throw ctx.fail('SIGN_IN')
  return next()
})

const api = {
  rooms: {
    chat: app.ws('/rooms/:room', {
      params: z.object({ room: z.string().max(3) }),
      query: z.object({ since: z.coerce.number<number>().optional() }),
      in: z.object({ text: z.string() }),
      out: z.object({ text: z.string(), at: z.date() }),
      upgrade: (ctx) => ({ room: ctx.params.room, since: ctx.query.since }),
      message(ws, { text }) {
        ws.send({ text: `${ws.data.room} ${ws.data.since}: ${text}`, at: new Date(0) })
      },
    }),
  },
  raw: app.ws('/raw/:id?', {
    protocols: ['v2', 'v1'],
    open: (ws) => void ws.send(ws.protocol),
    message: (ws, message) => void ws.send(message),
  }),
  closed: app.ws('/closed', known, { open: (ws) => ws.close(4001, 'enough') }),
  text: app.ws('/text', {
    in: z.string(),
    out: z.string(),
    message: (ws, text) => void ws.send(text.toUpperCase()),
  }),
}
app.expose(api)

let url = ''
before(async () => {
  ;({ url } = await app.listen(0, '127.0.0.1'))
})
after(() => app.close())

const open = { WebSocket, reconnect: { delay: 1, retries: 1 } }

async function first<T>(socket: ClientSocket<any, T>): Promise<T> {
  for await (const message of socket) return message
  throw new Error('no message came')
}

describe('a client of app.ws', () => {
  test('messages have the types of their schemas', async () => {
    const client = createClient<typeof api>(url)
    type Chat = Parts<typeof client.rooms.chat>
    same<keyof Chat[0], 'params' | 'query' | 'headers' | 'cookies'>(true)
    same<Chat[0]['params'], { room: string }>(true)
    same<Chat[0]['query'], { since?: number | undefined } | undefined>(true)
    same<Flat<Chat[1]>, { text: string }>(true)
    same<Flat<Chat[2]>, { text: string; at: string }>(true)
    const chat = connect(client.rooms.chat, { params: { room: 'a' }, query: { since: 2 } }, open)
    chat.send({ text: 'hi' })
    assert.deepEqual(await first(chat), { text: 'a 2: hi', at: new Date(0).toISOString() })
    // @ts-expect-error the schema has text
    void (() => chat.send({ texts: 'hi' }))
    // @ts-expect-error the path has a parameter
    void (() => connect(client.rooms.chat, {}, open))
    // @ts-expect-error it is no WebSocket
    void (() => connect(client.rooms, {}, open))
    // @ts-expect-error a WebSocket is not called
    void (() => client.rooms.chat({ params: { room: 'a' } }))
    chat.close()
    await chat.closed
  })

  test('a string is JSON where a schema says so, and text elsewhere', async () => {
    const client = createClient<typeof api>(url)
    const text = connect(client.text, {}, open)
    text.send('hällo')
    assert.equal(await first(text), 'HÄLLO')
    text.close()
    const raw = connect(client.raw, { params: { id: 'x' } }, { ...open, protocols: ['v0', 'v1', 'v2'] })
    same<Parts<typeof client.raw>[2], RawMessage>(true)
    const loop = raw[Symbol.asyncIterator]()
    raw.send('"text"')
    raw.send(new Uint8Array([1, 255]))
    const messages = []
    for await (const message of loop) if (messages.push(message) === 3) break
    assert.deepEqual(messages, ['v1', '"text"', new Uint8Array([1, 255])])
    raw.close()
    await Promise.all([text.closed, raw.closed])
  })

  test('the table says which messages are JSON', async () => {
    const table = await (await fetch(`${url}/client.json`)).json()
    assert.deepEqual(table, {
      'rooms.chat': ['WS', '/rooms/:room', ['in', 'out']],
      raw: ['WS', '/raw/:id?'],
      closed: ['WS', '/closed'],
      text: ['WS', '/text', ['in', 'out']],
    })
  })

  test('what the server refuses is final, with its status', async () => {
    const client = createClient<typeof api>(url)
    for (const [begin, status] of [
      [() => connect(client.rooms.chat, { params: { room: 'long' } }, open), 400],
      [() => connect(client.closed, {}, open), 401],
    ] as const) {
      const socket = begin()
      const failed = deferred<Error>()
      socket.on('error', failed.resolve)
      assert.equal(((await failed.promise) as ClientError).status, status)
      assert.equal(socket.state, 'closed')
    }
  })

  test('the headers of the client let it in, and a code of the app ends it', async () => {
    const client = createClient<typeof api>(url, { headers: { authorization: 'me' } })
    const end = await connect(client.closed, {}, open).closed
    assert.deepEqual(end, { code: 4001, reason: 'enough', opened: true, final: true })
  })

  test('routes whose types are not known take any input', () => {
    const client = createClient<{ any: { readonly method: 'WS'; readonly path: '/any' } }>('http://a.test', {
      routes: {},
    })
    same<Parts<typeof client.any>[0], LooseSocketInput>(true)
  })

  test('contracts have sockets, and the client does without the table', async () => {
    const contracts = {
      rooms: {
        echo: contract.ws('/echo/:room', {
          params: z.object({ room: z.string() }),
          in: z.object({ n: z.number() }),
          out: z.object({ n: z.number(), by: z.string() }),
        }),
      },
      text: contract.ws('/text', { protocols: ['v1'] }),
    }
    const server = createApp({ signals: false, adapter: { type: 'node-http' }, limits: { drainIdle: 0 } })
    const user = middleware<{ user: string }>()({}, (ctx, next) => {
      ctx.state.user = 'Ada'
      return next()
    })
    const echo = server.implement(contracts.rooms.echo, user, {
      upgrade: (ctx) => ({ by: `${ctx.state.user} in ${ctx.params.room}` }),
      message(ws, { n }) {
        same<typeof n, number>(true)
        ws.subscribe('all')
        echo.publish('all', { n, by: ws.data.by })
        // @ts-expect-error the schema has a name
        void (() => echo.publish('all', { n }))
      },
    })
    server.implement({ text: contracts.text }, { text: { message: (ws, message) => void ws.send(message) } })
    server.expose(contracts)
    const { url } = await server.listen(0, '127.0.0.1')
    try {
      const client = createClient(contracts, url)
      const socket = connect(client.rooms.echo, { params: { room: 'a' } }, open)
      socket.send({ n: 1 })
      assert.deepEqual(await first(socket), { n: 1, by: 'Ada in a' })
      const text = connect(client.text, {}, { ...open, protocols: ['v1'] })
      text.send('{}')
      assert.equal(await first(text), '{}')
      assert.equal(text.protocol, 'v1')
      socket.close()
      text.close()
      await Promise.all([socket.closed, text.closed])
      assert.deepEqual(await (await fetch(`${url}/client.json`)).json(), {
        'rooms.echo': ['WS', '/echo/:room', ['in', 'out']],
        text: ['WS', '/text'],
      })
    } finally {
      await server.close()
    }
  })

  test('what an implemented socket gives can be exposed in the place of its contract', async () => {
    const server = createApp({ signals: false, adapter: { type: 'node-http' }, limits: { drainIdle: 0 } })
    const chat = server.implement(contract.ws('/chat', { out: z.string() }), {
      open: (ws) => void ws.send('hi'),
    })
    server.expose({ chat })
    const { url } = await server.listen(0, '127.0.0.1')
    try {
      const socket = connect(createClient<{ chat: typeof chat }>(url).chat, {}, open)
      assert.equal(await first(socket), 'hi')
      socket.close()
      await socket.closed
    } finally {
      await server.close()
    }
  })

  test('a contract without its hooks, and hooks without a contract, are refused', async () => {
    const server = createApp({ signals: false })
    const contracts = { a: contract.ws('/a'), b: contract.ws('/b') }
    assert.throws(() => server.implement(contracts, { a: {} } as never), {
      code: 'E_NOT_IMPLEMENTED',
      message: 'implement was given no handler for b (WS /b)',
    })
    assert.throws(() => server.implement(contracts.a, (() => {}) as never), { code: 'E_BAD_HANDLER' })
    server.expose(contracts)
    await assert.rejects(server.inject('/'), {
      code: 'E_NOT_IMPLEMENTED',
      message: /a \(WS \/a\), b \(WS \/b\)/,
    })
    await server.close()
    // @ts-expect-error a contract has no hooks
    void (() => contract.ws('/c', { message() {} }))
  })
})
