/** An OpenAPI 3.1 document, as far as it is written here. */
import type { Examples } from '../types/parts.ts'

/** JSON Schema, draft 2020-12. */
export type JSONSchemaObject = { [keyword: string]: unknown }

/** The document itself (OpenAPI 3.1 §4.8.1). */
export interface OpenAPIDocument {
  /** Version of the specification. */
  openapi: string
  /** What the document is about. */
  info: OpenAPIInfo
  /** Where the API is; without them where the document is. */
  servers?: OpenAPIServer[]
  /** Operations by path and method. */
  paths: Record<string, OpenAPIPathItem>
  /** What operations refer to. */
  components: OpenAPIComponents
  /** What every operation asks for that does not say otherwise. */
  security?: Record<string, string[]>[]
  /** In the order they are shown. */
  tags?: OpenAPITag[]
  /** More to read. */
  externalDocs?: { url: string; description?: string }
}

/** What an API is called (OpenAPI 3.1 §4.8.2). */
export interface OpenAPIInfo {
  /** Its name. */
  title: string
  /** Of the API, not of the specification. */
  version: string
  /** In one sentence. */
  summary?: string
  /** CommonMark. */
  description?: string
  /** A URL. */
  termsOfService?: string
  /** Who answers for it. */
  contact?: { name?: string; url?: string; email?: string }
  /** `identifier` is one of SPDX. */
  license?: { name: string; identifier?: string; url?: string }
}

/** Where an API is (OpenAPI 3.1 §4.8.5). */
export interface OpenAPIServer {
  /** May be relative to the document. */
  url: string
  /** What it is for. */
  description?: string
  /** Parts of the URL in braces, with their defaults. */
  variables?: Record<string, { default: string; enum?: string[]; description?: string }>
}

/**
 * A heading that operations stand under (OpenAPI 3.1 §4.8.22). It takes extensions (§4.9): `x-displayName` is what the
 * page shows instead of the name.
 */
export interface OpenAPITag {
  /** As routes name it. */
  name: string
  /** CommonMark. */
  description?: string
  /** More to read. */
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
  /** In one sentence. */
  summary?: string
  /** CommonMark. */
  description?: string
  /** What it stands under. */
  tags?: string[]
  /** Not to be used any more. */
  deprecated?: boolean
  /** Of path, query, headers and cookies. */
  parameters?: OpenAPIParameter[]
  /** What it takes. */
  requestBody?: OpenAPIRequestBody
  /** By status; `2XX` where the route does not say what it replies. */
  responses: Record<string, OpenAPIResponse | OpenAPIReference>
  /** One of these is enough; each names all that is needed. */
  security?: Record<string, string[]>[]
}

/** A part of the path, the query, the headers or the cookies. */
export interface OpenAPIParameter {
  /** In the request. */
  name: string
  /** Where it is. */
  in: 'path' | 'query' | 'header' | 'cookie'
  /** Of parameters of the path always. */
  required?: boolean
  /** CommonMark. */
  description?: string
  /** Not to be used any more. */
  deprecated?: boolean
  /** How arrays and objects are written; `form` repeats the name. */
  style?: 'form'
  /** One pair for each value. */
  explode?: boolean
  /** Of the value. */
  schema: JSONSchemaObject
}

/** What an operation takes, by content type. */
export interface OpenAPIRequestBody {
  /** It cannot be left out. */
  required: boolean
  /** By content type. */
  content: Record<string, OpenAPIMedia>
}

/** A body. */
export interface OpenAPIMedia {
  /** Absent where nothing is known. */
  schema?: JSONSchemaObject
  /** By name. */
  examples?: Examples
}

/** A reply. */
export interface OpenAPIResponse {
  /** When it is given. */
  description: string
  /** By content type; absent where it has no content. */
  content?: Record<string, OpenAPIMedia>
}

/** Stands for what it points to. */
export interface OpenAPIReference {
  /** In the document. */
  $ref: string
}

/** What operations refer to, by name. */
export interface OpenAPIComponents {
  /** Schemas used in more than one place. */
  schemas?: Record<string, JSONSchemaObject>
  /** Replies of the framework itself. */
  responses?: Record<string, OpenAPIResponse>
  /** Those of middleware and of the options. */
  securitySchemes?: Record<string, Readonly<Record<string, unknown>>>
}
