import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { Message } from '@bufbuild/protobuf'
import { createClient, type Client, Code, ConnectError, type Transport } from '@connectrpc/connect'
import { createConnectTransport, createGrpcTransport } from '@connectrpc/connect-node'
import { createGrpcWebTransport } from '@connectrpc/connect-web'
import {
  credentials,
  loadPackageDefinition,
  Metadata,
  type ServiceClientConstructor,
  status,
  type StatusObject,
} from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { eventually, TestAuthority, testClock } from '@volant/test-kit'
import { createApp } from 'volant'

process.env.PORT = '0'
const { app, ended, Greeter, url } = await import('./main.ts')

const proto = new URL('../greeter.proto', import.meta.url).pathname
const loaded = loadPackageDefinition(loadSync(proto, { defaults: true })) as unknown as {
  greeter: { v1: { Greeter: ServiceClientConstructor } }
}
const grpc = new loaded.greeter.v1.Greeter(new URL(url).host, credentials.createInsecure())

after(async () => {
  grpc.close()
  await app.close({ drainIdle: 0 })
})

// The service is read at run time, so the compiler does not know the types of its methods.
type Call = {
  on(name: string, listener: (value: never) => void): Call
  write(message: object): boolean
  end(): void
  cancel(): void
}
type Answer = (error: (Error & StatusObject) | null, reply: Record<string, unknown>) => void
const method = (name: string): ((...given: unknown[]) => Call) =>
  (grpc[name] as (...given: unknown[]) => Call).bind(grpc)

describe('a client of gRPC', () => {
  test('calls a method, with metadata both ways', async () => {
    const metadata = new Metadata()
    metadata.set('x-caller', 'ada')
    metadata.set('x-bytes-bin', Buffer.from([1, 2, 255]))
    const seen: unknown[] = []
    const reply = await new Promise((resolve, reject) => {
      const answer: Answer = (error, value) => (error === null ? resolve(value) : reject(error))
      const call = method('Hello')({ name: 'Ada' }, metadata, answer)
      call.on('metadata', (fields: Metadata) =>
        seen.push(fields.get('x-caller'), fields.get('x-request-id').length),
      )
      call.on('status', (end: StatusObject) => seen.push(end.code, end.metadata.get('x-cost')))
    })
    assert.deepEqual(reply, { text: 'Hello Ada' })
    assert.deepEqual(seen, [['ada'], 1, status.OK, ['1']])
  })

  test('gets an error with its details', async () => {
    const error = await new Promise<Error & StatusObject>((resolve) => {
      method('Hello')({ name: '' }, ((failure) => resolve(failure as never)) satisfies Answer)
    })
    assert.deepEqual([error.code, error.details], [status.INVALID_ARGUMENT, 'a name is needed'])
    const [details] = error.metadata.get('grpc-status-details-bin')
    assert.match((details as Buffer).toString('latin1'), /greeter\.v1\.BadField.*name.*it is empty/s)
  })

  test('is told of a method that does not exist', async () => {
    const nothing = (value: object): Buffer => Buffer.from(JSON.stringify(value))
    const error = await new Promise<Error & StatusObject>((resolve) => {
      grpc.makeUnaryRequest('/greeter.v1.Greeter/None', nothing, nothing as never, {}, (failure) =>
        resolve(failure as never),
      )
    })
    assert.equal(error.code, status.UNIMPLEMENTED)
  })

  test('reads a stream', async () => {
    assert.deepEqual(await all(method('Count')({ from: 3, pause: 1 })), [3, 2, 1, 0])
  })

  test('writes a stream', async () => {
    const reply = await new Promise((resolve, reject) => {
      const answer: Answer = (error, value) => (error === null ? resolve(value) : reject(error))
      const call = method('Sum')(answer)
      for (let value = 1; value <= 100; value++) call.write({ value })
      call.end()
    })
    assert.deepEqual(reply, { value: 5050 })
  })

  test('talks both ways, and the server may end first', async () => {
    const call = method('Chat')()
    const said: string[] = []
    const end = new Promise<StatusObject>((resolve) => void call.on('status', resolve as never))
    await new Promise<void>((resolve) => {
      call.on('data', ({ text }: { text: string }) => {
        said.push(text)
        if (said.length < 5) call.write({ text: String(said.length) })
        else resolve()
      })
      call.write({ text: '0' })
    })
    assert.deepEqual(
      said,
      ['0', '1', '2', '3', '4'].map((text) => `You said ${text}`),
    )
    call.write({ text: 'bye' })
    assert.equal((await end).code, status.OK)
  })

  test('has a deadline, which ends the handler, too', async (t) => {
    const clock = testClock(t)
    clock.setDate(0)
    const before = ended.length
    const call = method('Count')({ from: 1_000, pause: 50 }, { deadline: 3_000 })
    const failure = failureOf(call)
    await new Promise((resolve) => void call.on('data', resolve))
    await clock.advance(3_000)
    assert.equal((await failure).code, status.DEADLINE_EXCEEDED)
    await eventually(() => ended.length === before + 1, 'the handler ends')
  })

  test('cancels a call, which ends the handler', async () => {
    const before = ended.length
    const call = method('Count')({ from: 1_000, pause: 50 })
    call.on('data', () => call.cancel())
    assert.equal((await failureOf(call)).code, status.CANCELLED)
    await eventually(() => ended.length === before + 1, 'the handler ends')
  })
})

const transports: [name: string, transport: Transport][] = [
  ['gRPC of Connect', createGrpcTransport({ baseUrl: url })],
  ['Connect over HTTP/2', createConnectTransport({ baseUrl: url, httpVersion: '2' })],
  ['Connect over HTTP/1.1', createConnectTransport({ baseUrl: url, httpVersion: '1.1' })],
  ['gRPC-Web by fetch', createGrpcWebTransport({ baseUrl: url })],
]
type Shape = Message & Record<string, unknown>

for (const [name, transport] of transports) {
  test(`a client of ${name}`, async () => {
    const client = createClient(Greeter, transport) as unknown as Record<
      'hello' | 'count' | 'sum' | 'chat',
      (request: unknown, options?: unknown) => Promise<Shape> & AsyncIterable<Shape>
    > &
      Client<never>
    const seen: unknown[] = []
    const reply = await client.hello(
      { name: 'Ada' },
      {
        headers: { 'x-caller': 'ada' },
        onHeader: (headers: Headers) => seen.push(headers.get('x-caller')),
        onTrailer: (trailers: Headers) => seen.push(trailers.get('x-cost')),
      },
    )
    assert.deepEqual([reply['text'], seen], ['Hello Ada', ['ada', '1']])
    const numbers: unknown[] = []
    for await (const { value } of client.count({ from: 2, pause: 1 })) numbers.push(value)
    assert.deepEqual(numbers, [2, 1, 0])
    const failure = await client.hello({ name: '' }).then(
      () => null,
      (error: unknown) => ConnectError.from(error),
    )
    assert.deepEqual([failure?.code, failure?.rawMessage], [Code.InvalidArgument, 'a name is needed'])
    assert.equal(failure?.details.length, 1)
    if (name.startsWith('gRPC-Web')) return
    const sum = await client.sum(
      (async function* () {
        for (let value = 1; value <= 4; value++) yield { value }
      })(),
    )
    assert.equal(sum['value'], 10)
    if (name.endsWith('1.1')) return
    const said: unknown[] = []
    for await (const { text } of client.chat(
      (async function* () {
        yield { text: 'a' }
        yield { text: 'b' }
      })(),
    ))
      said.push(text)
    assert.deepEqual(said, ['You said a', 'You said b'])
  })
}

test('a call of Connect is a POST with JSON, whose fields have their names', async () => {
  const headers = { 'content-type': 'application/json' }
  const reply = await fetch(`${url}/greeter.v1.Greeter/Hello`, {
    method: 'POST',
    headers,
    body: '{"name":"Ada"}',
  })
  assert.deepEqual(await reply.json(), { text: 'Hello Ada' })
})

for (const type of ['native', 'node-http'] as const) {
  test(`over TLS a client of gRPC chooses HTTP/2: ${type}`, async () => {
    const authority = await TestAuthority.make()
    const { cert, key } = authority.server(['localhost'])
    const secure = createApp({ adapter: { type }, startLine: false, signals: false }).mount('/', app)
    const { port } = await secure.listen({ port: 0, host: '127.0.0.1', tls: { cert, key } })
    const trusted = credentials.createSsl(Buffer.from(authority.ca))
    const client = new loaded.greeter.v1.Greeter(`localhost:${port}`, trusted)
    const call = (name: string): ((...given: unknown[]) => Call) =>
      (client[name] as (...given: unknown[]) => Call).bind(client)
    const hello = (name: string): Promise<unknown> =>
      new Promise((resolve, reject) => {
        const answer: Answer = (error, value) => (error === null ? resolve(value) : reject(error))
        call('Hello')({ name }, answer)
      })
    try {
      assert.deepEqual(await hello('Ada'), { text: 'Hello Ada' })
      await assert.rejects(hello(''), { code: status.INVALID_ARGUMENT, details: 'a name is needed' })
      assert.deepEqual(await all(call('Count')({ from: 3, pause: 1 })), [3, 2, 1, 0])
    } finally {
      client.close()
      await secure.close({ drainIdle: 0 })
    }
  })
}

test('what is no call is answered as ever', async () => {
  assert.deepEqual(await (await fetch(`${url}/health`)).json(), { status: 'ok' })
})

function all(call: Call): Promise<unknown[]> {
  return new Promise((resolve, reject) => {
    const values: unknown[] = []
    call.on('data', ({ value }: { value: number }) => values.push(value))
    call.on('error', reject)
    call.on('end', () => resolve(values))
  })
}

function failureOf(call: Call): Promise<StatusObject> {
  return new Promise((resolve) => {
    call.on('data', () => {})
    call.on('error', resolve as never)
  })
}
