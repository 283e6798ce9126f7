/** Makes names of components, in letters that generators of clients accept. */
import type { SameSchemas } from './same-schemas.ts'

/** `User account` is `UserAccount`, `Größe` is `Grosse`. Gives an empty text if there is no Latin letter and no digit. */
export function nameIn(text: string): string {
  const plain = text
    .replaceAll(/[ßæÆœŒøØłŁđĐðÐþÞı]/g, (letter) => letters.get(letter) as string)
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
  const words = plain.split(/[^A-Za-z0-9]+/).filter((word) => word !== '')
  return words.map((word) => word[0]?.toUpperCase() + word.slice(1)).join('')
}

/** Unicode does not decompose these letters; each stands in front of what replaces it. */
const letters = new Map(
  'ßss æae ÆAE œoe ŒOE øo ØO łl ŁL đd ĐD ðd ÐD þth ÞTh ıi'.split(' ').map((each) => [each[0], each.slice(1)]),
)

/** Gives `Schema` for a text that has no name in it. */
export function baseOfText(text: string): string {
  return nameIn(text) || 'Schema'
}

/** A key stays as it is if a component may have that name (OpenAPI 3.1 §4.8.7). */
export function baseOfKey(key: string): string {
  return /^[A-Za-z0-9._-]+$/.test(key) ? key : baseOfText(key)
}

/**
 * Gives each component a name, those first that have a name of their own. Of components with the same base, that of
 * replies has the base itself, that of requests has `Input` after it, and all others are numbered in the order in which
 * they were found.
 */
export function assignNames(
  groups: readonly SameSchemas[],
  reserved: readonly string[],
): Map<SameSchemas, string> {
  const names = new Map<SameSchemas, string>()
  const taken = new Names(reserved)
  const isSent = (group: SameSchemas): boolean => group.some(({ direction }) => direction === 'output')
  const rank = (group: SameSchemas): number => (group[0].isNamed ? 0 : 2) + (isSent(group) ? 0 : 1)
  for (const group of groups.toSorted((a, b) => rank(a) - rank(b))) {
    const [{ base }] = group
    names.set(group, taken.take(!isSent(group) && taken.has(base) ? `${base}Input` : base))
  }
  return names
}

/** Gives each name once. */
export class Names {
  readonly #taken: Set<string>

  constructor(taken: Iterable<string> = []) {
    this.#taken = new Set(taken)
  }

  has(name: string): boolean {
    return this.#taken.has(name)
  }

  /** Gives `base`, or the first of `base2`, `base3`, … that is free. */
  take(base: string): string {
    let name = base
    for (let number = 2; this.#taken.has(name); number++) name = base + number
    this.#taken.add(name)
    return name
  }
}
