/** Reads parameters behind a media type, a range or a proxy's address (RFC 9110 §5.6.6, RFC 7239 §4). */

/** The source of an expression for a token (RFC 9110 §5.6.2). */
export const token = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+"

const quoted = '"((?:[\\t \\x21\\x23-\\x5b\\x5d-\\x7e\\x80-\\xff]|\\\\[\\t \\x21-\\x7e\\x80-\\xff])*)"'
const parameter = new RegExp(`[ \\t]*;[ \\t]*(?:(${token})=(?:(${token})|${quoted}))?`, 'y')

/** Gives the parameters of `text` from `from` on, as names in lower case and values; null if they are malformed. */
export function parametersOf(text: string, from: number): [name: string, value: string][] | null {
  const found: [string, string][] = []
  parameter.lastIndex = from
  while (parameter.lastIndex < text.length) {
    const match = parameter.exec(text)
    if (match === null) return null
    const [, name, plain, inQuotes = ''] = match
    if (name !== undefined) found.push([name.toLowerCase(), plain ?? inQuotes.replace(/\\(.)/g, '$1')])
  }
  return found
}
