/** Hashes of passwords, by argon2id where Node.js has it, else by scrypt. */
import * as crypto from 'node:crypto'
import { promisify } from 'node:util'
import { VolantError } from '../errors/errors.ts'
import { bad } from '../options/bad-option.ts'
import { checkChoice, checkNames } from '../options/checks.ts'
import { inTurn } from './hash-queue.ts'
import { type Argon2Cost, type Cost, hashText, parseHash, type ScryptCost } from './phc.ts'

/** The options of `hashPassword` and `needsRehash`. */
export interface PasswordHashOptions {
  /**
   * The algorithm of new hashes. Default: `argon2id` where `node:crypto` has it (Node.js 24.7), else `scrypt`. Choose
   * `scrypt` where some processes of one database run on an older version.
   */
  algorithm?: 'argon2id' | 'scrypt' | undefined
}

/** The second of the parameters that OWASP recommends: 19 MiB, two passes, one lane. */
const argon2Cost: Argon2Cost = { algorithm: 'argon2id', m: 19_456, t: 2, p: 1 }
/** The first of its parameters: 128 MiB. */
const scryptCost: ScryptCost = { algorithm: 'scrypt', ln: 17, r: 8, p: 1 }

const saltLength = 16
const hashLength = 32

/** Undefined where Node.js, or the OpenSSL that it was built with, does not have it. */
const argon2 = crypto.argon2 as typeof crypto.argon2 | undefined
const scrypt = promisify(
  crypto.scrypt as (
    password: string,
    salt: Buffer,
    length: number,
    options: crypto.ScryptOptions,
    done: (error: Error | null, hash: Buffer) => void,
  ) => void,
)

/**
 * Gives a hash of a password with its salt, in PHC format, to keep in a database:
 *
 *     await users.insert({ name, password: await hashPassword(ctx.body.password) })
 *
 * It takes 50 to 500 ms in another thread. Two run at once, and a hundred wait; then it rejects with 503
 * `E_PASSWORD_QUEUE`. Throws `E_BAD_OPTION`.
 */
export async function hashPassword(password: string, options: PasswordHashOptions = {}): Promise<string> {
  const cost = costFor('hashPassword', options)
  const salt = crypto.randomBytes(saltLength)
  const hash = await derived(checkPassword('hashPassword', password), cost, salt, hashLength)
  return hashText({ cost, salt, hash })
}

/**
 * True if `hash` is one of this password. Pass null for a user that does not exist: it then takes as long, and is false,
 * so that its time does not tell which users there are:
 *
 *     const user = await users.find(name)
 *     if (!(await verifyPassword(password, user?.password ?? null))) ctx.fail('WRONG_PASSWORD')
 *
 * Rejects with 503 `E_PASSWORD_QUEUE` as `hashPassword` does, and with `E_PASSWORD_HASH` for a text that is no hash, that
 * costs too much, or that this version of Node.js cannot check.
 */
export async function verifyPassword(password: string, hash: string | null): Promise<boolean> {
  const given = checkPassword('verifyPassword', password)
  if (hash === null) {
    await derived(given, costFor('verifyPassword', {}), nobody, hashLength)
    return false
  }
  const known = parseHash(hash)
  return crypto.timingSafeEqual(await derived(given, known.cost, known.salt, known.hash.length), known.hash)
}

/** The salt of users that do not exist. */
const nobody = crypto.randomBytes(saltLength)

/**
 * True if `hash` is weaker than what `hashPassword` makes now. After a sign-in the password is known, and can be hashed
 * anew. Throws `E_PASSWORD_HASH` for a text that is no hash, `E_BAD_OPTION`.
 */
export function needsRehash(hash: string, options: PasswordHashOptions = {}): boolean {
  const wanted = costFor('needsRehash', options)
  const { cost, hash: bytes } = parseHash(hash)
  if (bytes.length < hashLength) return true
  if (wanted.algorithm === 'argon2id') {
    return cost.algorithm !== 'argon2id' || cost.m < wanted.m || cost.t < wanted.t
  }
  return cost.algorithm !== 'scrypt' || cost.ln < wanted.ln || cost.r < wanted.r
}

function costFor(where: string, options: PasswordHashOptions): Cost {
  checkNames(where, options, ['algorithm'])
  const { algorithm = argon2 === undefined ? 'scrypt' : 'argon2id' } = options
  checkChoice(`${where}: algorithm`, algorithm, ['argon2id', 'scrypt'])
  if (algorithm === 'argon2id' && argon2 === undefined) {
    throw bad(
      `${where}: algorithm`,
      algorithm,
      `'scrypt' on Node.js ${process.versions.node}, which has no argon2`,
    )
  }
  return algorithm === 'argon2id' ? argon2Cost : scryptCost
}

function checkPassword(where: string, password: unknown): string {
  // The value is not shown: it may be a password in some other form.
  if (typeof password !== 'string') {
    throw new VolantError('E_BAD_OPTION', `${where} takes a password as text, not ${typeof password}`)
  }
  // Keyboards differ in how they compose letters.
  return password.normalize('NFC')
}

function derived(password: string, cost: Cost, salt: Buffer, length: number): Promise<Buffer> {
  if (cost.algorithm === 'scrypt') {
    const { ln, r, p } = cost
    const N = 2 ** ln
    // The default of Node.js is 32 MiB.
    const maxmem = 128 * r * (N + p + 2)
    return inTurn(() => scrypt(password, salt, length, { N, r, p, maxmem }))
  }
  if (argon2 === undefined) {
    throw new VolantError(
      'E_PASSWORD_HASH',
      `verifyPassword: a hash of argon2id cannot be checked on Node.js ${process.versions.node}, which has no argon2: run Node.js 24.7 or later`,
    )
  }
  const { m, t, p } = cost
  const parameters = {
    message: password,
    nonce: salt,
    memory: m,
    passes: t,
    parallelism: p,
    tagLength: length,
  }
  return inTurn(
    () =>
      new Promise((resolve, reject) => {
        argon2('argon2id', parameters, (error, hash) => (error ? reject(error) : resolve(hash)))
      }),
  )
}
