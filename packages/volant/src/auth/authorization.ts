/** Reads the field Authorization (RFC 9110 §11.6.2). */
import type { RequestContext } from '../types/request.ts'
import { fieldOf, Refusal, requestOf } from './gate.ts'

/** True for token68 (RFC 9110 §11.2), which is the b64token of RFC 6750 §2.1. */
export function isToken68(text: string): boolean {
  return /^[A-Za-z0-9\-._~+/]+=*$/.test(text)
}

/**
 * Gives the token behind `scheme`, whose name is compared without case; null where the field is absent or has another
 * scheme. `params` are those of the challenge for a malformed field.
 */
export function tokenOf(
  ctx: RequestContext,
  scheme: string,
  params: Readonly<Record<string, string>>,
): string | Refusal | null {
  const value = fieldOf(ctx, 'authorization')
  if (value === undefined) return null
  if (isTwice(ctx, 'authorization')) {
    return new Refusal(400, 'Authorization is given more than once: send one of them', params)
  }
  const { length } = scheme
  if (value.slice(0, length).toLowerCase() !== scheme) return null
  const next = value.charCodeAt(length)
  // The name of another scheme may begin with the name of this one.
  if (value.length > length && next !== 0x20) return null
  const token = value.slice(length).trim()
  if (isToken68(token)) return token
  return new Refusal(400, `Authorization has no token in the form that ${scheme} has`, params)
}

/** True for two fields of a name. They may come from a client that shows a proxy another one than the app. */
export function isTwice(ctx: RequestContext, name: string): boolean {
  return requestOf(ctx)?.exchange.isRepeated(name) === true
}
