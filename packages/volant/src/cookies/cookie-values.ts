/** Reads one cookie of a request, as often as it came: another host of the domain may have set one of the same name. */

/** Of more cookies than these of one name, none counts: each would have to be opened. */
const mostValues = 4

const semicolon = 0x3b
const space = 0x20
const tab = 0x09

/** Gives the different values of a cookie; none where there are more than a browser has reason to send. */
export function cookieValues(header: string, name: string): readonly string[] {
  const values: string[] = []
  let next = 0
  for (let at = header.indexOf(name); at !== -1; at = header.indexOf(name, next)) {
    const equals = at + name.length
    next = equals
    if (header[equals] !== '=' || !beginsPair(header, at)) continue
    const end = header.indexOf(';', equals)
    next = end === -1 ? header.length : end
    const value = header.slice(equals + 1, next).trim()
    if (values.includes(value)) continue
    if (values.length === mostValues) return []
    values.push(value)
  }
  return values
}

function beginsPair(header: string, at: number): boolean {
  let before = at - 1
  while (before >= 0 && (header.charCodeAt(before) === space || header.charCodeAt(before) === tab)) before--
  return before < 0 || header.charCodeAt(before) === semicolon
}
