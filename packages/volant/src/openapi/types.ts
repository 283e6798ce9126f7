/** The parts of an OpenAPI 3.1 document that Volant writes. */
import type { Examples } from '../types/parts.ts'

/** A schema of the document: JSON Schema, draft 2020-12 (OpenAPI 3.1 §4.8.24). */
export type OpenAPISchema = { [keyword: string]: unknown }

/** The document itself (OpenAPI 3.1 §4.8.1). */
export interface OpenAPIDocument {
  /** Version of the specification. */
  openapi: string
  /** What the document is about. */
  info: OpenAPIInfo
  /** Where the API is. Without servers it is where the document is. */
  servers?: OpenAPIServer[]
  /** Operations by path and method. */
  paths: Record<string, OpenAPIPathItem>
  /** Schemas, replies and security schemes that operations refer to. */
  components: OpenAPIComponents
  /** What every operation requires that does not say otherwise. */
  security?: Record<string, string[]>[]
  /** Tags, in the order in which they are shown. */
  tags?: OpenAPITag[]
  /** A link to further documentation. */
  externalDocs?: { url: string; description?: string }
}

/** The name of an API, and what belongs to it (OpenAPI 3.1 §4.8.2). */
export interface OpenAPIInfo {
  /** Its name. */
  title: string
  /** The version of the API, not that of the specification. */
  version: string
  /** What it does, in one sentence. */
  summary?: string
  /** What it does, in CommonMark. */
  description?: string
  /** The URL of the terms of service. */
  termsOfService?: string
  /** Who answers for it. */
  contact?: { name?: string; url?: string; email?: string }
  /** `identifier` is one of SPDX. */
  license?: { name: string; identifier?: string; url?: string }
}

/** Where an API is (OpenAPI 3.1 §4.8.5). */
export interface OpenAPIServer {
  /** The URL may be relative to the document. */
  url: string
  /** What it is for. */
  description?: string
  /** Parts of the URL in braces, with their defaults. */
  variables?: Record<string, { default: string; enum?: string[]; description?: string }>
}

/**
 * A heading for operations (OpenAPI 3.1 §4.8.22). It takes extensions (§4.9): `x-displayName` is what the
 * page shows instead of the name.
 */
export interface OpenAPITag {
  /** The name that routes give it. */
  name: string
  /** What it is about, in CommonMark. */
  description?: string
  /** A link to further documentation. */
  externalDocs?: { url: string; description?: string }
  /** An extension. */
  [extension: `x-${string}`]: unknown
}

/** Operations of a path, by method in lower case. */
export type OpenAPIPathItem = Record<string, OpenAPIOperation>

/** A route (OpenAPI 3.1 §4.8.10). */
export interface OpenAPIOperation {
  /** Unique in the document. */
  operationId: string
  /** What it does, in one sentence. */
  summary?: string
  /** What it does, in CommonMark. */
  description?: string
  /** The headings under which it stands. */
  tags?: string[]
  /** True if clients should no longer use it. */
  deprecated?: boolean
  /** What it takes in the path, the query, the headers and the cookies. */
  parameters?: OpenAPIParameter[]
  /** What it takes as a body. */
  requestBody?: OpenAPIRequestBody
  /** Replies by status; `2XX` if the route does not say what it replies. */
  responses: Record<string, OpenAPIResponse | OpenAPIReference>
  /** A request has to meet one of these requirements; each names all schemes that it needs. */
  security?: Record<string, string[]>[]
}

/** A part of the path, the query, the headers or the cookies. */
export interface OpenAPIParameter {
  /** The name that it has in requests. */
  name: string
  /** The part of a request that has it. */
  in: 'path' | 'query' | 'header' | 'cookie'
  /** Parameters of the path are always required. */
  required?: boolean
  /** What it means, in CommonMark. */
  description?: string
  /** True if clients should no longer use it. */
  deprecated?: boolean
  /** How arrays and objects are written: `form` repeats the name. */
  style?: 'form'
  /** True if each value is a pair of its own. */
  explode?: boolean
  /** The schema of its value. */
  schema: OpenAPISchema
}

/** What an operation takes, by content type. */
export interface OpenAPIRequestBody {
  /** True if a request cannot leave it out. */
  required: boolean
  /** Bodies by content type. */
  content: Record<string, OpenAPIMedia>
}

/** A body of one content type (OpenAPI 3.1 §4.8.14). */
export interface OpenAPIMedia {
  /** Absent if the route does not say what it is. */
  schema?: OpenAPISchema
  /** Examples by name. */
  examples?: Examples
}

/** A reply (OpenAPI 3.1 §4.8.17). */
export interface OpenAPIResponse {
  /** What it means. */
  description: string
  /** Bodies by content type; absent if the reply has none. */
  content?: Record<string, OpenAPIMedia>
}

/** Stands for the component that it points to. */
export interface OpenAPIReference {
  /** A JSON Pointer in the document, as a URI fragment. */
  $ref: string
}

/** What operations refer to, by name (OpenAPI 3.1 §4.8.7). */
export interface OpenAPIComponents {
  /** Schemas with a name, and those that refer to themselves. */
  schemas?: Record<string, OpenAPISchema>
  /** Replies that the framework gives by itself. */
  responses?: Record<string, OpenAPIResponse>
  /** Schemes that middleware and the options declare. */
  securitySchemes?: Record<string, Readonly<Record<string, unknown>>>
}
