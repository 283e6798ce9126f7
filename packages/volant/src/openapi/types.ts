/** Declares the parts of an OpenAPI 3.1 document that Volant writes. */
import type { Examples } from '../types/parts.ts'

/** A schema of the document: JSON Schema, draft 2020-12 (OpenAPI 3.1 §4.8.24). */
export type OpenAPISchema = { [keyword: string]: unknown }

/** The document itself (OpenAPI 3.1 §4.8.1). */
export interface OpenAPIDocument {
  /** The version of the specification. */
  openapi: string
  /** The API that the document describes. */
  info: OpenAPIInfo
  /** The addresses of the API. Without servers it is where the document is. */
  servers?: OpenAPIServer[]
  /** The operations by path and method. */
  paths: Record<string, OpenAPIPathItem>
  /** The schemas, replies and security schemes that operations refer to. */
  components: OpenAPIComponents
  /** The security that every operation requires that does not say otherwise. */
  security?: Record<string, string[]>[]
  /** The tags, in the order in which they are shown. */
  tags?: OpenAPITag[]
  /** A link to further documentation. */
  externalDocs?: { url: string; description?: string }
  /** The path of the AsyncAPI document that describes the messages of WebSockets, where one is served. */
  'x-asyncapi'?: string
}

/** The name of an API, and what belongs to it (OpenAPI 3.1 §4.8.2). */
export interface OpenAPIInfo {
  /** The name of the API. */
  title: string
  /** The version of the API, not that of the specification. */
  version: string
  /** A sentence that says what the API does. */
  summary?: string
  /** A text in CommonMark that says what the API does. */
  description?: string
  /** The URL of the terms of service. */
  termsOfService?: string
  /** The people who answer for the API. */
  contact?: { name?: string; url?: string; email?: string }
  /** `identifier` is one of SPDX. */
  license?: { name: string; identifier?: string; url?: string }
}

/** The address of an API (OpenAPI 3.1 §4.8.5). */
export interface OpenAPIServer {
  /** The URL may be relative to the document. */
  url: string
  /** The purpose of this address. */
  description?: string
  /** The parts of the URL in braces, with their defaults. */
  variables?: Record<string, { default: string; enum?: string[]; description?: string }>
}

/**
 * A heading for operations (OpenAPI 3.1 §4.8.22). It takes extensions (§4.9): `x-displayName` is what the
 * page shows instead of the name.
 */
export interface OpenAPITag {
  /** The name that routes give it. */
  name: string
  /** A text in CommonMark about the tag. */
  description?: string
  /** A link to further documentation. */
  externalDocs?: { url: string; description?: string }
  /** An extension. */
  [extension: `x-${string}`]: unknown
}

/** The operations of a path, by method in lower case. */
export type OpenAPIPathItem = Record<string, OpenAPIOperation>

/** A route (OpenAPI 3.1 §4.8.10). */
export interface OpenAPIOperation {
  /** The id of the operation, unique in the document. */
  operationId: string
  /** A sentence that says what the operation does. */
  summary?: string
  /** A text in CommonMark that says what the operation does. */
  description?: string
  /** The headings under which it stands. */
  tags?: string[]
  /** True if clients should no longer use it. */
  deprecated?: boolean
  /** The parameters in the path, the query, the headers and the cookies. */
  parameters?: OpenAPIParameter[]
  /** The body that the operation takes. */
  requestBody?: OpenAPIRequestBody
  /** The replies by status; `2XX` if the route does not say what it replies. */
  responses: Record<string, OpenAPIResponse | OpenAPIReference>
  /** A request has to meet one of these requirements; each names all schemes that it needs. */
  security?: Record<string, string[]>[]
  /** The channel of the AsyncAPI document that describes the messages, where it is the handshake of a WebSocket. */
  'x-asyncapi-channel'?: string
}

/** A part of the path, the query, the headers or the cookies. */
export interface OpenAPIParameter {
  /** The name that it has in requests. */
  name: string
  /** The part of a request that has it. */
  in: 'path' | 'query' | 'header' | 'cookie'
  /** Parameters of the path are always required. */
  required?: boolean
  /** A text in CommonMark about the parameter. */
  description?: string
  /** True if clients should no longer use it. */
  deprecated?: boolean
  /** The spelling of arrays and objects: `form` repeats the name. */
  style?: 'form'
  /** True if each value is a pair of its own. */
  explode?: boolean
  /** The schema of its value. */
  schema: OpenAPISchema
}

/** The body that an operation takes, by content type. */
export interface OpenAPIRequestBody {
  /** True if a request cannot leave it out. */
  required: boolean
  /** The bodies by content type. */
  content: Record<string, OpenAPIMedia>
}

/** A body of one content type (OpenAPI 3.1 §4.8.14). */
export interface OpenAPIMedia {
  /** The schema; absent if the route does not say what the body is. */
  schema?: OpenAPISchema
  /** The examples by name. */
  examples?: Examples
  /** The media types of the files of a form, by the name of their field (OpenAPI 3.1 §4.8.15). */
  encoding?: Record<string, { contentType: string }>
}

/** A reply (OpenAPI 3.1 §4.8.17). */
export interface OpenAPIResponse {
  /** The meaning of the reply. */
  description: string
  /** The header fields that are worth a word. */
  headers?: Record<string, OpenAPIHeader>
  /** The bodies by content type; absent if the reply has none. */
  content?: Record<string, OpenAPIMedia>
}

/** A header field of a reply (OpenAPI 3.1 §4.8.21). */
export interface OpenAPIHeader {
  /** What the field says. */
  description: string
  /** The schema of its value. */
  schema: OpenAPISchema
}

/** A reference stands for the component that it points to. */
export interface OpenAPIReference {
  /** A JSON Pointer in the document, as a URI fragment. */
  $ref: string
}

/** The parts that operations refer to, by name (OpenAPI 3.1 §4.8.7). */
export interface OpenAPIComponents {
  /** The schemas with a name, and those that refer to themselves. */
  schemas?: Record<string, OpenAPISchema>
  /** The replies that the framework gives by itself. */
  responses?: Record<string, OpenAPIResponse>
  /** The schemes that middleware and the options declare. */
  securitySchemes?: Record<string, Readonly<Record<string, unknown>>>
}
