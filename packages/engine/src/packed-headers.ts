/**
 * Packs headers that are the same for many replies into one entry of a header list. Its name is empty, which no header's
 * is, and its value is the whole block as the engine reads it. A dozen headers written one by one cost more than the
 * rest of a small reply.
 */

/** The lists behind packed values: those of middleware, and of the files that are kept in memory. */
const lists = new Map<string, readonly string[]>()

/** Gives the value that stands for `list`, which is kept: name, value, name, value, …, all of them checked. */
export function packHeaders(list: readonly string[]): string {
  // The text is flat and has one byte a character, as it will be written.
  const flat = Buffer.from(packedText(list), 'latin1').toString('latin1')
  lists.set(flat, list)
  return flat
}

/** As `packHeaders`, for a value that is not the same for many replies: nothing is kept of it. */
export function packedText(list: readonly string[]): string {
  let packed = ''
  for (let at = 0; at < list.length; at += 2) {
    const name = list[at] as string
    const value = list[at + 1] as string
    packed +=
      String.fromCharCode(name.length & 0xff, name.length >> 8, value.length & 0xff, value.length >> 8) +
      name +
      value
  }
  return packed
}

/** Forgets the list behind a packed value that no later reply has. One that is under way is read from the value. */
export function releaseHeaders(packed: string): void {
  lists.delete(packed)
}

/** Gives the list behind a packed value. */
export function packedList(packed: string): readonly string[] {
  return lists.get(packed) ?? readPacked(packed)
}

/** Reads a packed value, or another block of fields in Latin-1. Gives name, value, name, value, …. */
export function readPacked(packed: string): string[] {
  const list: string[] = []
  for (let at = 0; at < packed.length;) {
    const nameEnd = at + 4 + packed.charCodeAt(at) + (packed.charCodeAt(at + 1) << 8)
    const valueEnd = nameEnd + packed.charCodeAt(at + 2) + (packed.charCodeAt(at + 3) << 8)
    list.push(packed.slice(at + 4, nameEnd), packed.slice(nameEnd, valueEnd))
    at = valueEnd
  }
  return list
}

/** Unpacks what is packed in a header list, for adapters that write header by header. A list without any is returned. */
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
