/** What a server tells clients of its operations, and the two rules that both of them follow. */

/**
 * Method and path of an operation, and what it declares: its statuses, and its errors as `NOT_FOUND 404`. Without a
 * status among them any from 200 to 299 is a success; where they are left out every problem with a code is an error,
 * too. Replies of a status that is declared are JSON or plain text, or of the media type: that of JSON is where none of
 * them is text, and for all types of JSON but problems.
 */
export type ClientRoute = readonly [
  method: string,
  path: string,
  declares?: readonly (number | string)[] | undefined,
  mediaType?: string | undefined,
]

/** Operations by name: what a server gives at `/client.json`, and generated files hold. */
export type ClientRoutes = Readonly<Record<string, ClientRoute>>

/** Plain JSON Schema and Zod say so; of other libraries only a server can tell, which has their JSON Schema. */
export function isNoText(schema: { type?: unknown; '~standard'?: { vendor: string } } | null): boolean {
  return /^(object|array) (zod|undefined)$/.test(`${schema?.type} ${schema?.['~standard']?.vendor}`)
}

/** What no operation can be named: `await` asks for `then`, `JSON.stringify` for `toJSON`; dots part names. */
export function isTaken(name: string): boolean {
  return /^(then|toJSON|)$|\./.test(name) || name in Object.prototype
}
