/** The operations that a server describes to clients, and two rules that client and server share. */

/**
 * The method and path of an operation, and what it declares: statuses, and errors as `NOT_FOUND 404`. Without a status
 * in the list any from 200 to 299 is a success. Without a list every problem with a code is an error, too. Replies of a
 * declared status are JSON or plain text, or have the media type. The media type is JSON's where no reply is text, and
 * stands for all types of JSON but problems; it is empty where only the last member follows, the content type of a body
 * that is sent as a form.
 */
export type ClientRoute = readonly [
  method: string,
  path: string,
  declares?: readonly (number | string)[] | undefined,
  mediaType?: string | undefined,
  form?: string | undefined,
]

/** The operations by name, as `/client.json` of a server and generated files have them. */
export type ClientRoutes = Readonly<Record<string, ClientRoute>>

/**
 * True when a schema takes no text. Plain JSON Schema and Zod say so by themselves; for other libraries the server
 * alone knows, since it has their JSON Schema.
 */
export function isNoText(schema: { type?: unknown; '~standard'?: { vendor: string } } | null): boolean {
  return /^(object|array) (zod|undefined)$/.test(`${schema?.type} ${schema?.['~standard']?.vendor}`)
}

/**
 * True when an operation cannot have this name: `await` reads `then`, `JSON.stringify` reads `toJSON`, and dots
 * separate names.
 */
export function isTaken(name: string): boolean {
  return /^(then|toJSON|)$|\./.test(name) || name in Object.prototype
}
