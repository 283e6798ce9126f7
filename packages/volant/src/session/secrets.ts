/** Secrets of sessions, and what is derived from them. */
import { createHash, randomBytes } from 'node:crypto'

const secretBytes = 24

/** The characters of a secret. */
export const secretLength = 32

/** The form of a secret. */
export const secretForm: RegExp = /^[\w-]{32}$/

export function newSecret(): string {
  return randomBytes(secretBytes).toString('base64url')
}

/** Gives the id of a session, which the store has in place of the secret: who reads the store cannot use the session. */
export function idOf(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url')
}

/** True for what may be an id. */
export function isId(value: unknown): boolean {
  return typeof value === 'string' && /^[\w-]{43}$/.test(value)
}
