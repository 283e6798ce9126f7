/** Header blocks (RFC 7541), written by hand: literals without Huffman coding, and references to the dynamic table. */

/** Indexes of the static table (RFC 7541 Appendix A). */
const index = {
  authority: 1,
  get: 2,
  post: 3,
  root: 4,
  path: 4,
  http: 6,
  https: 7,
  cookie: 32,
  age: 21,
  host: 38,
} as const

/** The newest entry of the dynamic table. */
export const newest = 62

/** Writes an integer (RFC 7541 §5.1). `first` has the bits before the prefix. */
function integer(value: number, prefix: number, first: number): Buffer {
  const most = 2 ** prefix - 1
  if (value < most) return Buffer.from([first | value])
  const bytes = [first | most]
  let rest = value - most
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128)
  return Buffer.from([...bytes, rest])
}

function text(value: string | Uint8Array): Buffer {
  const bytes = Buffer.from(value as string)
  return Buffer.concat([integer(bytes.length, 7, 0), bytes])
}

/** Writes an indexed field (§6.1), in one byte if the index is below 127. */
export function indexed(at: number): Buffer {
  return integer(at, 7, 0x80)
}

/** Writes a literal field without indexing (§6.2.2). A number is the index of its name. */
export function literal(name: string | number, value: string): Buffer {
  const named = typeof name === 'number' ? integer(name, 4, 0) : Buffer.concat([Buffer.from([0]), text(name)])
  return Buffer.concat([named, text(value)])
}

/** Writes a literal field with incremental indexing (§6.2.1), which becomes the newest entry of the table. */
export function inserted(name: string | number, value: string): Buffer {
  const named =
    typeof name === 'number' ? integer(name, 6, 0x40) : Buffer.concat([Buffer.from([0x40]), text(name)])
  return Buffer.concat([named, text(value)])
}

/** Writes a field whose value is marked as Huffman-coded (§5.2). */
export function huffman(name: string, coded: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([0]), text(name), integer(coded.length, 7, 0x80), coded])
}

export const cookieName: number = index.cookie
export const ageName: number = index.age
export const hostName: number = index.host

export interface Head {
  readonly method?: 'GET' | 'POST'
  readonly path?: string
  readonly encrypted?: boolean
  readonly authority?: string
  /** Blocks of further fields. */
  readonly more?: readonly Uint8Array[]
}

/** Writes the pseudo-header fields of a request, then its other fields. */
export function head({
  method = 'GET',
  path = '/',
  encrypted = false,
  authority = 'localhost',
  more = [],
}: Head = {}): Buffer {
  return Buffer.concat([
    indexed(method === 'GET' ? index.get : index.post),
    indexed(encrypted ? index.https : index.http),
    path === '/' ? indexed(index.root) : literal(index.path, path),
    literal(index.authority, authority),
    ...more,
  ])
}
