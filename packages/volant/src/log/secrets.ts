/** Knows which members of a line are secrets: by their names anywhere, or by their paths. */

/** Replaces a value in a line. */
export const censored = '[Redacted]'

/** A member whose name is one of these is a secret wherever it stands. Case, `-` and `_` make no difference. */
const secretNames = [
  'authorization proxyAuthorization cookie setCookie',
  'password passwd passphrase pwd secret clientSecret',
  'token accessToken refreshToken idToken authToken bearerToken csrfToken sessionToken',
  'apiKey xApiKey apiToken accessKey secretKey privateKey secretAccessKey credentials',
]
  .join(' ')
  .split(' ')

/** The steps of the paths to secrets; `*` is a step through any name. */
export interface SecretPaths {
  readonly isSecret: boolean
  readonly next: ReadonlyMap<string, SecretPaths>
}

export class SecretNames {
  readonly paths: SecretPaths | null
  readonly #names: ReadonlySet<string>
  /** The names that were looked at. A program has few names of members, and a client that sends others fills it once. */
  readonly #known = new Map<string, boolean>()

  constructor(names: readonly string[], paths: readonly (readonly string[])[]) {
    this.#names = new Set(names.map(plain))
    this.paths = paths.length === 0 ? null : treeOf(paths)
  }

  /** False if no name in a query can be a secret. Most have none, and are not taken apart for it. */
  mayHave(query: string): boolean {
    return this.#names.size > usualCount || (this.#names.size > 0 && usualInside.test(query))
  }

  has(name: string): boolean {
    const known = this.#known.get(name)
    if (known !== undefined) return known
    const secret = this.#names.has(plain(name))
    if (this.#known.size < 1_000) this.#known.set(name, secret)
    return secret
  }
}

/** Each usual name has one of these in it, unless it is escaped. */
const usualInside = /%|auth|cookie|pass|pwd|secret|token|key|credential/i
const usualCount = new Set(secretNames.map(plain)).size

/** Nothing is a secret. */
export const noSecrets = new SecretNames([], [])
export const usualSecrets = new SecretNames(secretNames, [])

/** Gives the usual secrets and these: a name stands for members anywhere, several for one path. */
export function secretsOf(paths: readonly (readonly string[])[]): SecretNames {
  const names = paths.filter((path) => path.length === 1).flat()
  return new SecretNames(
    [...secretNames, ...names],
    paths.filter((path) => path.length > 1),
  )
}

function plain(name: string): string {
  return name.length > 100 ? name : name.replace(/[-_]/g, '').toLowerCase()
}

interface Growing {
  isSecret: boolean
  readonly next: Map<string, Growing>
}

function treeOf(paths: readonly (readonly string[])[]): SecretPaths {
  const tree: Growing = { isSecret: false, next: new Map() }
  for (const path of paths) {
    let at = tree
    for (const name of path) {
      const next = at.next.get(name) ?? { isSecret: false, next: new Map<string, Growing>() }
      at.next.set(name, next)
      at = next
    }
    at.isSecret = true
  }
  return tree
}
