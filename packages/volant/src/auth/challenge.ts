/** The challenges of refusals: the field WWW-Authenticate (RFC 9110 §11.6.1). */
import { bad } from '../options/bad-option.ts'

/** A challenge: the name of an authentication scheme, and its parameters. */
export interface Challenge {
  /** The authentication scheme, such as `Bearer`. */
  readonly scheme: string
  /** The parameters, such as `realm`. */
  readonly params?: Readonly<Record<string, string>> | undefined
}

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
/** Fields are Latin-1; other characters would arrive as something else. */
const fieldText = /^[\t\x20-\x7e\x80-\xff]*$/

/** Writes a challenge. `error` are the parameters that say why a request was refused. */
export function challengeText(
  { scheme, params }: Challenge,
  error?: Readonly<Record<string, string>>,
): string {
  const list = Object.entries({ ...params, ...error }).map(([name, value]) => `${name}="${quoted(value)}"`)
  return list.length === 0 ? scheme : `${scheme} ${list.join(', ')}`
}

/** Escapes the text of a quoted-string (RFC 9110 §5.6.4). */
function quoted(value: string): string {
  return value.replace(/[^\t\x20-\x7e\x80-\xff]/g, '?').replace(/["\\]/g, String.raw`\$&`)
}

/** Throws `E_BAD_OPTION`. */
export function checkChallenge(where: string, challenge: unknown): Challenge {
  const { scheme, params = {} } = (challenge ?? {}) as Partial<Challenge>
  if (typeof scheme !== 'string' || !token.test(scheme) || typeof params !== 'object') {
    throw bad(where, challenge, "a challenge such as { scheme: 'Bearer', params: { realm: 'api' } }")
  }
  for (const [name, value] of Object.entries(params)) checkParameter(`${where}: params.${name}`, name, value)
  return { scheme, params: { ...params } }
}

function checkParameter(where: string, name: string, value: unknown): void {
  if (!token.test(name)) throw bad(where, name, 'a name of letters, digits and _')
  if (typeof value !== 'string' || !fieldText.test(value))
    throw bad(where, value, 'a text of Latin-1 characters')
}

export function checkRealm(where: string, realm: unknown): string {
  if (typeof realm === 'string' && realm !== '' && fieldText.test(realm)) return realm
  throw bad(where, realm, "a text of Latin-1 characters, such as 'Staff'")
}
