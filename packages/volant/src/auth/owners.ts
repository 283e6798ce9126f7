/** The options that list secrets: a list of texts, or texts by owner. */
import { VolantError } from '../errors/errors.ts'
import { SecretTable } from './safe-equal.ts'

/** One secret, or several while one takes the place of another. `process.env` has undefined where a text is missing. */
type Texts = string | readonly (string | undefined)[] | undefined

/** Secrets that stand for nobody in particular, or secrets by their owner: `{ ci: 'text', app: ['new', 'old'] }`. */
export type Secrets = readonly (string | undefined)[] | Readonly<Record<string, Texts>>

/** The user that such a secret stands for: the name of its owner, or null in a list. */
export type OwnerOf<S> = S extends readonly unknown[] ? null : Extract<keyof S, string>

/** Makes the table of the option `where`. Throws `E_BAD_OPTION`, and shows no secret. */
export function secretTable(
  where: string,
  secrets: unknown,
  faultOf: (secret: string) => string | null = () => null,
): SecretTable<string | null> {
  if (typeof secrets !== 'object' || secrets === null) {
    throw faulty(where, "takes a list of texts, or texts by owner, as { ci: 'text' }")
  }
  const lists: readonly (readonly [string | null, unknown])[] = Array.isArray(secrets)
    ? [[null, secrets]]
    : Object.entries(secrets)
  const entries = lists.flatMap(([owner, list]) =>
    (Array.isArray(list) ? (list as readonly unknown[]) : [list]).map((secret) => {
      const fault = textFault(secret) ?? faultOf(secret as string)
      if (fault !== null) throw faulty(owner === null ? where : `${where}.${owner}`, fault)
      return [owner, secret as string] as const
    }),
  )
  if (entries.length === 0) throw faulty(where, 'is empty, so that nobody could pass')
  if (new Set(entries.map(([, secret]) => secret)).size < entries.length) {
    throw faulty(where, 'has one secret twice: give each owner another')
  }
  return new SecretTable(entries)
}

/** Says what is wrong with a secret; null for a text. */
export function textFault(secret: unknown): string | null {
  if (secret === undefined) return 'is undefined: is its environment variable set?'
  if (typeof secret !== 'string') return 'is not a text'
  return secret === '' ? 'is empty' : null
}

export function faulty(name: string, fault: string): VolantError {
  return new VolantError('E_BAD_OPTION', `${name} ${fault}`)
}
