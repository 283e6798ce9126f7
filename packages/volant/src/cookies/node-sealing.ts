/**
 * Seals by node:crypto. A sealed text is `v1.ID.IV.CIPHERTEXT`: the id of the key, 96 random bits, and the ciphertext
 * with its tag (AES-256-GCM), each in base64url without padding. Version, id and name are authenticated with it.
 * `crates/seal` does the same for the engine, and shares the test cases.
 */
import { isUtf8 } from 'node:buffer'
import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import type { TextSealer } from '@volant/engine'
import type { DerivedKey } from './key-ring.ts'

/** The most bytes of a text: four times what a cookie carries. */
export const longestText = 16_384
/** The most bytes of a name. */
export const longestName = 256

const cipher = 'aes-256-gcm'
const ivBytes = 12
const tagBytes = 16
/** `v1.`, the id, a dot, the vector, a dot. */
const headLength = 3 + 8 + 1 + 16 + 1
const longestSealed = headLength + Math.ceil(((longestText + tagBytes) * 4) / 3)

interface Key {
  readonly prefix: string
  readonly secret: KeyObject
}

export function nodeSealer(derived: readonly DerivedKey[]): TextSealer {
  const keys = derived.map(({ id, secret }): Key => ({
    prefix: `v1.${id}.`,
    secret: createSecretKey(secret),
  }))
  const [newest] = keys as [Key, ...Key[]]
  return {
    seal(name, text) {
      const bytes = Buffer.from(text)
      if (bytes.length > longestText || Buffer.byteLength(name) > longestName) return null
      return sealWith(newest, name, bytes)
    },
    open(name, sealed) {
      if (sealed.length > longestSealed || Buffer.byteLength(name) > longestName) return null
      const key = keys.find(({ prefix }) => sealed.startsWith(prefix))
      return key === undefined ? null : openWith(key, name, sealed)
    },
  }
}

function sealWith({ prefix, secret }: Key, name: string, text: Buffer): string {
  const iv = randomBytes(ivBytes)
  const sealing = createCipheriv(cipher, secret, iv).setAAD(Buffer.from(prefix + name))
  const bytes = Buffer.concat([sealing.update(text), sealing.final(), sealing.getAuthTag()])
  return `${prefix}${iv.toString('base64url')}.${bytes.toString('base64url')}`
}

function openWith({ prefix, secret }: Key, name: string, sealed: string): string | null {
  if (sealed[headLength - 1] !== '.') return null
  const iv = canonicalBytes(sealed.slice(prefix.length, headLength - 1))
  const bytes = canonicalBytes(sealed.slice(headLength))
  if (iv === null || bytes === null || bytes.length < tagBytes) return null
  const end = bytes.length - tagBytes
  const opening = createDecipheriv(cipher, secret, iv, { authTagLength: tagBytes })
  opening.setAAD(Buffer.from(prefix + name)).setAuthTag(bytes.subarray(end))
  const text = opening.update(bytes.subarray(0, end))
  try {
    opening.final()
  } catch {
    return null
  }
  return isUtf8(text) ? text.toString() : null
}

/** Node.js takes more than one spelling of the same bytes: padding, `+`, line breaks, bits that are left over. */
function canonicalBytes(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.toString('base64url') === text ? bytes : null
}
