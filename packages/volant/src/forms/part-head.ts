/** Reads the header fields of a part, by the rules that RFC 7578 has for forms. */
import { bag } from '@volant/engine'
import { HTTPError, refusal } from '../errors/errors.ts'
import { parseMediaType } from '../request/media-type.ts'
import { token } from '../request/parameters.ts'

/** The most bytes of a name. */
export const longestName = 255

/** What the head of a part says. */
export interface PartHead {
  readonly name: string
  /** The name of the file, without folders; undefined for a field. */
  readonly filename: string | undefined
  readonly type: string
  readonly headers: Readonly<Record<string, string>>
}

export function malformed(detail: string): HTTPError {
  return refusal('E_BODY_MALFORMED', `the form is malformed: ${detail}`)
}

export function tooLarge(detail: string): HTTPError {
  return refusal('E_FORM_TOO_LARGE', detail)
}

const wholeToken = new RegExp(`^${token}$`)
const control = /[^\t\x20-\x7e\u0080-\uffff]/

/** Makes a head of its lines. Throws 400 for one that no form may have. */
export function partHead(lines: readonly string[]): PartHead {
  const headers = bag() as Record<string, string>
  for (const line of lines) {
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(colon, 0)).toLowerCase()
    if (!wholeToken.test(name) || control.test(line)) {
      throw malformed('a part has a line that is no header field')
    }
    if (name in headers) throw malformed('a part has a header field twice')
    headers[name] = trimmed(line, colon + 1)
  }
  const disposition = headers['content-disposition']
  if (disposition === undefined) throw malformed('a part has no Content-Disposition')
  checkEncoding(headers['content-transfer-encoding'])
  return { ...namesOf(disposition), type: typeOf(headers['content-type']), headers }
}

// Browsers write `%22` for a quote and leave a backslash alone; others write a backslash before both.
const parameter = new RegExp(
  `[\\t ]*;[\\t ]*(?:(${token})[\\t ]*=[\\t ]*(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\t ;"]+)))?`,
  'y',
)

/** What most clients send, in which nothing has to be undone. */
const usual = /^form-data; name="([^"\\%]*)"(?:; filename="([^"\\%]*)")?$/

function namesOf(disposition: string): Pick<PartHead, 'name' | 'filename'> {
  const names = usual.exec(disposition)
  if (names === null) return unusualNames(disposition)
  const [, name = '', filename] = names
  return { name: checkName(name), filename: filename === undefined ? undefined : baseOf(filename) }
}

function unusualNames(disposition: string): Pick<PartHead, 'name' | 'filename'> {
  const kind = /^form-data(?=[\t ;]|$)/i.exec(disposition)
  if (kind === null) throw malformed('the Content-Disposition of a part is not form-data')
  let name: string | undefined
  let filename: string | undefined
  for (let at = kind[0].length; at < disposition.length; at = parameter.lastIndex) {
    parameter.lastIndex = at
    const match = parameter.exec(disposition)
    if (match === null) throw malformed('the Content-Disposition of a part cannot be read')
    const [, key = '', quoted, plain = ''] = match
    const value = quoted === undefined ? plain : unquoted(quoted)
    switch (key.toLowerCase()) {
      case 'name':
        if (name !== undefined) throw malformed('a part has two names')
        name = value
        break
      case 'filename':
        if (filename !== undefined) throw malformed('a part has two names of a file')
        filename = baseOf(value)
        break
      case 'filename*':
        throw malformed(
          'a part has filename*, which forms do not use (RFC 7578 §4.2): send filename in UTF-8',
        )
    }
  }
  if (name === undefined) throw malformed('a part has no name')
  return { name: checkName(name), filename }
}

function checkName(name: string): string {
  if (name === '__proto__') throw malformed('a part is named __proto__')
  if (name.length > longestName / 3 && Buffer.byteLength(name) > longestName) {
    throw tooLarge(`the name of a part is longer than ${longestName} bytes`)
  }
  return name
}

const escapes: Readonly<Record<string, string>> = { '%22': '"', '%0d': '\r', '%0a': '\n' }

/** Gives the text from `from` on, without blanks around it. */
function trimmed(text: string, from: number): string {
  let start = from
  let end = text.length
  while (start < end && isBlank(text.charCodeAt(start))) start++
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09
}

/** Undoes what the standards of HTML (§4.10.21.8) and curl escape in names. */
function unquoted(text: string): string {
  const plain = text.includes('\\') ? text.replace(/\\(["\\])/g, '$1') : text
  return plain.includes('%')
    ? plain.replace(/%(?:22|0d|0a)/gi, (each) => escapes[each.toLowerCase()] as string)
    : plain
}

/** Some clients send a whole path (RFC 7578 §4.2). */
function baseOf(path: string): string {
  const base = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1)
  return base === '.' || base === '..' ? '' : base
}

/** Nothing is decoded (RFC 7578 §4.7). */
function checkEncoding(encoding: string | undefined): void {
  if (encoding === undefined || /^(?:7bit|8bit|binary)$/i.test(encoding)) return
  throw refusal('E_BODY_TYPE', 'a part has a Content-Transfer-Encoding: send its bytes as they are')
}

function typeOf(type: string | undefined): string {
  if (type === undefined || type === '') return 'text/plain'
  if (parseMediaType(type) === null) throw malformed('the Content-Type of a part cannot be read')
  return type
}
