/** The checks of claims (RFC 7519 §4.1), which are the same for tokens of all algorithms. */
import { bad } from '../options/bad-option.ts'
import { checkEach, checkFlag, checkInteger, checkText } from '../options/checks.ts'
import { millisecondsOf } from '../options/duration.ts'
import { type Claims, type Fault, mediaTypeOf } from './token.ts'

/** What the claims of a token have to be. */
export interface ClaimOptions {
  /** The issuer, `iss`, or several, any of which is accepted. Default: it is not looked at. */
  issuer?: string | readonly string[] | undefined
  /** The audience, `aud`, or several, one of which has to be among those of the token. Default: it is not looked at. */
  audience?: string | readonly string[] | undefined
  /** The subject, `sub`. Default: it is not looked at. */
  subject?: string | undefined
  /** The claims that a token must have beside those that other options look at. */
  requiredClaims?: readonly string[] | undefined
  /** False accepts tokens without `exp`, which are valid for ever. Default true. */
  requireExpiration?: boolean | undefined
  /** The most time since `iat`, in seconds or as `'1 hour'`. A token without `iat` is refused then. */
  maxTokenAge?: number | string | undefined
  /** The seconds by which the clock of the issuer may differ, from 0 to 300. Default 5. */
  clockTolerance?: number | undefined
  /** The type in the header, as `'at+jwt'` of access tokens (RFC 9068). Default: it is not looked at. */
  typ?: string | undefined
}

export const claimOptions = [
  'issuer',
  'audience',
  'subject',
  'requiredClaims',
  'requireExpiration',
  'maxTokenAge',
  'clockTolerance',
  'typ',
] as const

/** The checked options. */
export interface ClaimPlan {
  readonly issuers: readonly string[] | null
  readonly audiences: readonly string[] | null
  readonly subject: string | null
  readonly required: readonly string[]
  /** Seconds, as all times of tokens. */
  readonly maxAge: number | null
  readonly tolerance: number
  readonly type: string | null
}

/** Throws `E_BAD_OPTION`. */
export function claimPlanOf(where: string, options: ClaimOptions): ClaimPlan {
  const { issuer, audience, subject, maxTokenAge, typ } = options
  const required = new Set(
    checkEach(
      `${where}: requiredClaims`,
      options.requiredClaims ?? [],
      "a list of names such as ['sub']",
      (name, each) => checkText(name, each, /^/, 'names of claims'),
    ),
  )
  if (checkFlag(`${where}: requireExpiration`, options.requireExpiration, true)) required.add('exp')
  if (maxTokenAge !== undefined) required.add('iat')
  return {
    issuers: checkNamesOf(`${where}: issuer`, issuer),
    audiences: checkNamesOf(`${where}: audience`, audience),
    subject:
      subject === undefined ? null : checkText(`${where}: subject`, subject, /./s, 'the text that sub has'),
    required: [...required],
    maxAge: maxTokenAge === undefined ? null : checkSeconds(`${where}: maxTokenAge`, maxTokenAge),
    tolerance: checkInteger(
      `${where}: clockTolerance`,
      options.clockTolerance ?? 5,
      [0, 300],
      'seconds from 0 to 300',
    ),
    type:
      typ === undefined
        ? null
        : mediaTypeOf(checkText(`${where}: typ`, typ, /./, "the type in the header, as 'at+jwt'")),
  }
}

/** Checks a time that is given in seconds or as a text with its unit. */
export function checkSeconds(name: string, value: unknown): number {
  const ms = millisecondsOf(value)
  const seconds = ms === null ? value : ms / 1_000
  return checkInteger(
    name,
    seconds,
    [1, 100 * 365 * 86_400],
    "whole seconds from 1, or a text such as '15 minutes', '1 hour', '30 days'",
  )
}

function checkNamesOf(name: string, given: unknown): readonly string[] | null {
  if (given === undefined) return null
  const list: readonly unknown[] = Array.isArray(given) ? given : [given]
  const wanted = 'a text, or a list of texts with one at least'
  if (list.length === 0) throw bad(name, given, wanted)
  return list.map((each) => checkText(name, each, /./s, wanted))
}

/** Gives what is wrong with the claims; null where nothing is. `now` is in seconds. */
export function faultOf(claims: Claims, plan: ClaimPlan, now: number): Fault | null {
  for (const name of plan.required) if (!Object.hasOwn(claims, name)) return 'missing'
  const { exp, nbf, iat, iss, aud, sub } = claims
  if (plan.issuers !== null && !plan.issuers.includes(iss as string)) return 'issuer'
  if (plan.audiences !== null && !isFor(plan.audiences, aud)) return 'audience'
  if (plan.subject !== null && sub !== plan.subject) return 'subject'
  // JSON may have 1e999, which is Infinity here.
  if (!isTime(exp) || !isTime(nbf) || !isTime(iat)) return 'times'
  const { tolerance, maxAge } = plan
  if (nbf !== undefined && nbf > now + tolerance) return 'early'
  if (iat !== undefined && iat > now + tolerance) return 'issued'
  if (exp !== undefined && exp <= now - tolerance) return 'expired'
  if (maxAge !== null && now - (iat as number) - tolerance > maxAge) return 'age'
  return null
}

function isFor(audiences: readonly string[], aud: unknown): boolean {
  if (typeof aud === 'string') return audiences.includes(aud)
  return Array.isArray(aud) && audiences.some((each) => aud.includes(each))
}

function isTime(value: unknown): value is number | undefined {
  return value === undefined || (typeof value === 'number' && Number.isFinite(value))
}
