/**
 * The PHC string format, in which hashes of passwords are kept with what they were made with:
 * `$argon2id$v=19$m=19456,t=2,p=1$<salt>$<hash>`, `$scrypt$ln=17,r=8,p=1$<salt>$<hash>`.
 */
import { VolantError } from '../errors/errors.ts'

/** The costs of argon2id (RFC 9106 §3.1): KiB of memory, passes, lanes. */
export interface Argon2Cost {
  readonly algorithm: 'argon2id'
  readonly m: number
  readonly t: number
  readonly p: number
}

/** The costs of scrypt (RFC 7914 §2): the binary logarithm of N, the size of a block, parallelization. */
export interface ScryptCost {
  readonly algorithm: 'scrypt'
  readonly ln: number
  readonly r: number
  readonly p: number
}

export type Cost = Argon2Cost | ScryptCost

export interface PasswordHash {
  readonly cost: Cost
  readonly salt: Buffer
  readonly hash: Buffer
}

/** Numbers have no zero in front and at most seven digits, so that each hash has one text. */
const number = '([1-9][0-9]{0,6})'
const base64 = '([A-Za-z0-9+/]+)'
const argon2 = new RegExp(
  `^\\$argon2id\\$v=19\\$m=${number},t=${number},p=${number}\\$${base64}\\$${base64}$`,
)
const scrypt = new RegExp(`^\\$scrypt\\$ln=${number},r=${number},p=${number}\\$${base64}\\$${base64}$`)

/** The longest text that is read. Salt and hash have 64 bytes at most. */
const longest = 256

/**
 * The most that a hash may cost, in KiB at once and in all passes: a few seconds. A text from a database that somebody
 * else wrote to may ask for all memory of the machine.
 */
const mostMemory = 262_144
const mostWork = 1_048_576

/** Throws `E_PASSWORD_HASH`. The message does not show the hash. */
export function parseHash(text: unknown): PasswordHash {
  if (typeof text !== 'string') throw unreadable('is not a text')
  if (text.length > longest) throw unreadable(`is longer than ${longest} characters`)
  const cost = costOf(text)
  const [salt, hash] = text.split('$').slice(-2).map(bytesOf) as [Buffer, Buffer]
  if (salt.length < 8 || salt.length > 64 || hash.length < 16 || hash.length > 64) {
    throw unreadable('has a salt of less than 8 or a hash of less than 16 bytes, or more than 64 of them')
  }
  return { cost, salt, hash }
}

function costOf(text: string): Cost {
  const [, m, t, p1] = (argon2.exec(text) ?? []).map(Number) as [number, number, number, number]
  if (m !== undefined) {
    // RFC 9106 §3.1: a lane has at least 8 KiB.
    if (p1 > 16 || m < 8 * p1 || m > mostMemory || m * t > mostWork) throw expensive()
    return { algorithm: 'argon2id', m, t, p: p1 }
  }
  const [, ln, r, p2] = (scrypt.exec(text) ?? []).map(Number) as [number, number, number, number]
  if (ln !== undefined) {
    // RFC 7914 §6: the memory is 128 · r · (N + p) bytes, the work 128 · r · N · p. §2: N is less than 2^(16 r).
    const memory = (r * (2 ** ln + p2)) / 8
    if (ln > 24 || memory > mostMemory || (2 ** ln * r * p2) / 8 > mostWork) throw expensive()
    if (ln >= 16 * r) throw unreadable('has an ln of scrypt that is too large for its r (RFC 7914 §2)')
    return { algorithm: 'scrypt', ln, r, p: p2 }
  }
  throw unreadable('is neither of argon2id nor of scrypt in the PHC format')
}

function bytesOf(text: string): Buffer {
  return Buffer.from(text, 'base64')
}

function unreadable(what: string): VolantError {
  return new VolantError('E_PASSWORD_HASH', `verifyPassword: the hash ${what}`)
}

function expensive(): VolantError {
  return unreadable(
    `would take more than ${mostMemory / 1_024} MiB, ${mostWork / 1_024} MiB in all passes, or 16 lanes, which is refused: the hashes of hashPassword() take half of that at most`,
  )
}

/** Gives the text of a hash. */
export function hashText({ cost, salt, hash }: PasswordHash): string {
  const params =
    cost.algorithm === 'argon2id'
      ? `argon2id$v=19$m=${cost.m},t=${cost.t},p=${cost.p}`
      : `scrypt$ln=${cost.ln},r=${cost.r},p=${cost.p}`
  return `$${params}$${textOf(salt)}$${textOf(hash)}`
}

/** PHC strings have base64 without padding. */
function textOf(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '')
}
