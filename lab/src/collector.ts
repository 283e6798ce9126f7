/** A receiver of traces, as OpenTelemetry's exporters send them (OTLP over HTTP, protobuf): it counts the requests in them. */
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Collector {
  /** Where traces are sent to. */
  readonly url: string
  /** Spans with a route that have arrived. */
  spans(): number
  close(): void
}

/** It runs in this process, so that its work is not the server's. */
export async function startCollector(): Promise<Collector> {
  let spans = 0
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const parts: Buffer[] = []
    request.on('error', () => undefined)
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      spans += routedSpans(Buffer.concat(parts))
      response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end()
    })
  }
  const server = createServer(answer)
  // It ends with the server that sends to it, and keeps nobody waiting.
  server.unref().on('connection', (socket) => socket.unref())
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/v1/traces`,
    spans: () => spans,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** Of `ExportTraceServiceRequest`: `resource_spans` is its field 1, `scope_spans` field 2 of that, `spans` field 2 again. */
export function routedSpans(message: Buffer): number {
  let count = 0
  for (const resource of messagesOf(message, 1))
    for (const scope of messagesOf(resource, 2))
      for (const span of messagesOf(scope, 2)) if (span.includes('http.route')) count += 1
  return count
}

/** The messages in the field `wanted`. */
function* messagesOf(bytes: Buffer, wanted: number): Generator<Buffer> {
  let at = 0
  const varint = (): number => {
    let value = 0
    for (let shift = 1; ; shift *= 128) {
      const byte = bytes[at++] ?? 0
      value += (byte & 127) * shift
      if (byte < 128) return value
    }
  }
  while (at < bytes.length) {
    const tag = varint()
    const kind = tag & 7
    if (kind === 0) varint()
    else if (kind === 1) at += 8
    else if (kind === 5) at += 4
    else {
      const length = varint()
      if (tag >>> 3 === wanted) yield bytes.subarray(at, at + length)
      at += length
    }
  }
}
