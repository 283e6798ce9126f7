/**
 * A gRPC service in an app: clients of gRPC, gRPC-Web and Connect call the same handlers. It uses the libraries of
 * Connect, whose adapter for Node.js is a handler of connect. Version 2.1.2 is the last one that runs on Node.js 20.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import {
  create,
  createFileRegistry,
  type DescMessage,
  type DescService,
  fromBinary,
  type Message,
} from '@bufbuild/protobuf'
import { protoCamelCase } from '@bufbuild/protobuf/reflect'
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { Code, ConnectError, type HandlerContext, type ServiceImpl } from '@connectrpc/connect'
import { connectNodeAdapter } from '@connectrpc/connect-node'
import { loadSync, type MessageTypeDefinition } from '@grpc/proto-loader'
import { createApp, requestId } from 'volant'
import { fromConnect } from 'volant/connect'

// The .proto is read at start. Alternatively `protoc-gen-es` generates a file of types from it.
const { 'greeter.v1.Line': line } = loadSync(fileURLToPath(new URL('../greeter.proto', import.meta.url)))
const { fileDescriptorProtos } = line as MessageTypeDefinition<object, object>
const file = fileDescriptorProtos.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes))
// protoc writes the JSON names of fields, and this loader does not.
for (const { messageType } of file)
  for (const { field } of messageType) for (const each of field) each.jsonName = protoCamelCase(each.name)
const registry = createFileRegistry(create(FileDescriptorSetSchema, { file }))
export const Greeter = registry.getService('greeter.v1.Greeter') as DescService
const BadField = registry.getMessage('greeter.v1.BadField') as DescMessage

type Of<T> = Message & T
export type Line = Of<{ text: string }>
type Numbered = Of<{ value: number }>

const greeter = {
  hello(request: Of<{ name: string }>, ctx: HandlerContext) {
    if (request.name === '') {
      const detail = { desc: BadField, value: { field: 'name', reason: 'it is empty' } }
      throw new ConnectError('a name is needed', Code.InvalidArgument, undefined, [detail])
    }
    ctx.responseHeader.set('x-caller', ctx.requestHeader.get('x-caller') ?? 'nobody')
    ctx.responseTrailer.set('x-cost', '1')
    return { text: `Hello ${request.name}` }
  },

  async *count({ from, pause }: Of<{ from: number; pause: number }>, { signal }: HandlerContext) {
    try {
      for (let value = from; value >= 0; value--) {
        yield { value }
        await sleep(pause, undefined, { signal })
      }
    } finally {
      // This also runs when the deadline of the call has passed, or when the client has cancelled it.
      ended.push('count')
    }
  },

  async sum(numbers: AsyncIterable<Numbered>) {
    let value = 0
    for await (const each of numbers) value += each.value
    return { value }
  },

  async *chat(lines: AsyncIterable<Line>) {
    for await (const { text } of lines) {
      if (text === 'bye') return
      yield { text: `You said ${text}` }
    }
  },
}
// The compiler does not know the types of a .proto that is read at run time.
const implementation = greeter as unknown as Partial<ServiceImpl<DescService>>
export const ended: string[] = []

export const app = createApp()
app.use(requestId())
app.get('/health', () => ({ status: 'ok' }))

// The body of a call is a stream of messages, and so is its reply: both are open at the same time.
const options = { bodyMode: 'stream', maxBodySize: 1 << 30, requestTimeout: 0 } as const
app.post(
  `/${Greeter.typeName}/:method`,
  options,
  fromConnect(connectNodeAdapter({ routes: (router) => router.service(Greeter, implementation) })),
)

// gRPC needs HTTP/2. With `tls: { cert, key }` clients choose it by ALPN. Without it they need prior knowledge
// (`http2: true`).
export const { url } = await app.listen({ port: Number(process.env.PORT ?? 3000), http2: true })
console.log(`Listening on ${url}`)
