/** Declares the parts of an AsyncAPI 3.0 document that Volant writes. */
import type { OpenAPISchema } from './types.ts'

/** The document itself (AsyncAPI 3.0, AsyncAPI Object). */
export interface AsyncAPIDocument {
  /** The version of the specification. */
  asyncapi: string
  /** The API that the document describes. */
  info: AsyncAPIInfo
  /** The addresses of the API. Without servers it is where the document is. */
  servers?: Record<string, AsyncAPIServer>
  /** The WebSockets, by name: that of `app.expose`, or the `operationId`. */
  channels: Record<string, AsyncAPIChannel>
  /** What the server does: it receives the messages of one direction, and sends those of the other. */
  operations: Record<string, AsyncAPIOperation>
  /** The schemas and security schemes that channels and operations refer to. */
  components: AsyncAPIComponents
}

/** The name of an API, and what belongs to it. */
export interface AsyncAPIInfo {
  /** The name of the API. */
  title: string
  /** The version of the API, not that of the specification. */
  version: string
  /** A text in CommonMark that says what the API does. */
  description?: string
  /** The URL of the terms of service. */
  termsOfService?: string
  /** The people who answer for the API. */
  contact?: { name?: string; url?: string; email?: string }
  /** The license of the API. */
  license?: { name: string; url?: string }
  /** A link to further documentation. */
  externalDocs?: { url: string; description?: string }
}

/** The address of an API. */
export interface AsyncAPIServer {
  /** Its host, and its port if it is not the usual one. */
  host: string
  /** The path in front of all addresses. */
  pathname?: string
  /** `wss`, or `ws` without TLS. */
  protocol: string
  /** The purpose of this address. */
  description?: string
  /** The parts of the host and the path in braces, with their defaults. */
  variables?: Record<string, { default: string; enum?: string[]; description?: string }>
}

/** A WebSocket. */
export interface AsyncAPIChannel {
  /** Its path, such as `/chat/{room}`. */
  address: string
  /** A sentence that says what it is for. */
  summary?: string
  /** A text in CommonMark that says what it is for. */
  description?: string
  /** The headings under which it stands. */
  tags?: { name: string }[]
  /** The parameters of the path. */
  parameters?: Record<string, AsyncAPIParameter>
  /** The messages: `in` to the server, `out` from it. */
  messages: { in: AsyncAPIMessage; out: AsyncAPIMessage }
  /** What the request of the handshake has (WebSockets Bindings 0.1.0). */
  bindings: { ws: { method: 'GET'; query?: OpenAPISchema; headers?: OpenAPISchema; bindingVersion: string } }
}

/** A parameter of a path. Its values are texts. */
export interface AsyncAPIParameter {
  /** A text about the parameter. */
  description?: string
  /** The values that it may have. */
  enum?: string[]
}

/** The messages of one direction. */
export interface AsyncAPIMessage {
  /** The name of the channel and the direction. */
  name: string
  /** `application/json`; absent for a message that no schema describes. */
  contentType?: string
  /** A text about the message. */
  description?: string
  /** The schema: JSON Schema, draft 7. */
  payload?: OpenAPISchema
}

/** What the server does with the messages of a channel. */
export interface AsyncAPIOperation {
  /** Seen from the server. */
  action: 'receive' | 'send'
  /** The channel. */
  channel: AsyncAPIReference
  /** The messages. */
  messages: AsyncAPIReference[]
  /** A sentence that says what the WebSocket is for. */
  summary?: string
  /** The handshake has to meet one of these schemes. */
  security?: AsyncAPIReference[]
}

/** A reference stands for the part of the document that it points to. */
export interface AsyncAPIReference {
  /** A JSON Pointer in the document, as a URI fragment. */
  $ref: string
}

/** The parts that others refer to, by name. */
export interface AsyncAPIComponents {
  /** The schemas with a name, and those that refer to themselves. */
  schemas?: Record<string, OpenAPISchema>
  /** The schemes that middleware and the options declare. */
  securitySchemes?: Record<string, Readonly<Record<string, unknown>>>
}
