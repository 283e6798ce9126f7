/**
 * Headers that are the same for many replies, as one entry of a header list: the name is empty, which no header's is,
 * and the value is the whole block as the engine reads it. A dozen headers
 * written one by one cost more than the rest of a small reply.
 */

/** The lists behind packed values: one for every middleware that sends such a block. */
const lists = new Map<string, readonly string[]>()

/** The value that stands for `list`: name, value, name, value, …, all of them checked. */
export function packHeaders(list: readonly string[]): string {
  let packed = ''
  for (let at = 0; at < list.length; at += 2) {
    const name = list[at] as string
    const value = list[at + 1] as string
    packed +=
      String.fromCharCode(name.length & 0xff, name.length >> 8, value.length & 0xff, value.length >> 8) +
      name +
      value
  }
  // Flat, and one byte a character: as it is written.
  const flat = Buffer.from(packed, 'latin1').toString('latin1')
  lists.set(flat, list)
  return flat
}

/** The list behind a packed value. */
export function packedList(packed: string): readonly string[] {
  return lists.get(packed) ?? []
}

/** A header list with nothing packed in it; itself if there was nothing. For adapters that write header by header. */
export function unpackHeaders(headers: string[]): string[] {
  if (!headers.includes('')) return headers
  const flat: string[] = []
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] as string
    const value = headers[at + 1] as string
    if (name === '') flat.push(...packedList(value))
    else flat.push(name, value)
  }
  return flat
}
