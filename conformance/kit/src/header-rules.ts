/**
 * Rules for the headers of replies: those of Mozilla's HTTP Observatory (what costs points there), of OWASP's Secure
 * Headers project (what to send, what not to), of RFC 6797, RFC 9111 and RFC 6265bis.
 */
import { cookieFaults } from './cookie-rules.ts'

/** A reply with all its headers, in the order received. */
export interface CheckedReply {
  readonly status: number
  readonly raw: readonly (readonly [name: string, value: string])[]
}

/** How it was asked for. */
export interface Asked {
  readonly method: string
  /** True where the request came over https. */
  readonly encrypted: boolean
  /** True where it had credentials: what it gets is about a person. */
  readonly authenticated?: boolean
  /** The origin of the page that asked, if it is not one that may read the reply. */
  readonly strangeOrigin?: string
  /** True where other sites are to embed the reply, as pictures. */
  readonly embeddable?: boolean
}

/** Gives what is wrong with the headers; nothing if all is well. */
export function headerFaults(reply: CheckedReply, asked: Asked): string[] {
  const fields = new Fields(reply.raw)
  return [
    ...policyFaults(fields, asked),
    ...transportFaults(fields, asked),
    ...valueFaults(fields, asked),
    ...permissionFaults(fields),
    ...disclosureFaults(reply),
    ...originFaults(fields, asked),
    ...cachingFaults(reply, fields, asked),
    ...typeFaults(reply, fields, asked),
    ...fields.all('set-cookie').flatMap((cookie) => cookieFaults(cookie, asked.encrypted)),
  ]
}

class Fields {
  readonly #values = new Map<string, string[]>()

  constructor(raw: CheckedReply['raw']) {
    for (const [name, value] of raw) {
      const lower = name.toLowerCase()
      this.#values.set(lower, [...this.all(lower), value])
    }
  }

  all(name: string): readonly string[] {
    return this.#values.get(name) ?? []
  }

  get(name: string): string | undefined {
    return this.#values.has(name) ? this.all(name).join(', ') : undefined
  }
}

const broad = /^(?:\*|ftp:|https?:|https?:\/\/\*(?:\.\*)?)$/
const listSeparator = /\s*,\s*/

/** Content-Security-Policy, as the Observatory reads it: nothing unsafe, and a source for what has no default. */
function policyFaults(fields: Fields, { encrypted }: Asked): string[] {
  const policies = fields.all('content-security-policy')
  if (policies.length !== 1) return [`${policies.length} Content-Security-Policy`]
  const directives = new Map<string, string[]>()
  const faults: string[] = []
  for (const text of (policies[0] as string).split(';')) {
    const [name = '', ...sources] = text.trim().split(/\s+/)
    if (name === '') continue
    if (directives.has(name)) faults.push(`${name} is twice in the policy`)
    directives.set(name, sources)
  }
  const of = (name: string): string[] => directives.get(name) ?? directives.get('default-src') ?? ['*']
  const hasNonce = of('script-src').some((source) => /^'(?:nonce|sha\d+)-/.test(source))
  for (const source of of('script-src')) {
    const isUnsafe = source === "'unsafe-inline'" ? !hasNonce : /^(?:'unsafe-eval'|data:)$/.test(source)
    if (isUnsafe || broad.test(source)) faults.push(`scripts may come from ${source}`)
  }
  for (const source of of('object-src'))
    if (broad.test(source)) faults.push(`objects may come from ${source}`)
  for (const source of of('style-src')) if (broad.test(source)) faults.push(`styles may come from ${source}`)
  for (const name of ['base-uri', 'form-action', 'frame-ancestors']) {
    const sources = directives.get(name) ?? ['*']
    if (sources.length === 0 || sources.some((source) => broad.test(source)))
      faults.push(`${name} is ${sources.join(' ')}`)
  }
  if (encrypted) {
    for (const [name, sources] of directives)
      for (const source of sources)
        if (/^(?:http|ftp):/.test(source)) faults.push(`${name} has ${source}, which is not encrypted`)
  }
  return faults
}

/** Strict-Transport-Security: over https alone (RFC 6797 §7.2), for half a year at least. */
function transportFaults(fields: Fields, { encrypted }: Asked): string[] {
  const values = fields.all('strict-transport-security')
  if (!encrypted) return values.length === 0 ? [] : ['Strict-Transport-Security over http']
  if (values.length !== 1) return [`${values.length} Strict-Transport-Security`]
  const parts = (values[0] as string).split(';').map((part) => part.trim().toLowerCase())
  const seconds = Number(/^max-age=(\d+)$/.exec(parts.find((part) => part.startsWith('max-age')) ?? '')?.[1])
  const faults = seconds >= 15_552_000 ? [] : [`Strict-Transport-Security for ${seconds} seconds`]
  return parts.includes('includesubdomains')
    ? faults
    : [...faults, 'Strict-Transport-Security without subdomains']
}

const privateReferrers = ['no-referrer', 'same-origin', 'strict-origin', 'strict-origin-when-cross-origin']

/** Headers that have one right value or few. */
function valueFaults(fields: Fields, { embeddable }: Asked): string[] {
  const expected: Record<string, readonly (string | undefined)[]> = {
    'x-content-type-options': ['nosniff'],
    'x-frame-options': ['DENY', 'SAMEORIGIN'],
    'cross-origin-opener-policy': ['same-origin'],
    'cross-origin-resource-policy': embeddable === true ? ['cross-origin'] : ['same-origin', 'same-site'],
    'cross-origin-embedder-policy': [undefined, 'require-corp', 'credentialless'],
    'x-permitted-cross-domain-policies': ['none'],
    'x-dns-prefetch-control': ['off'],
    // The filter had faults of its own.
    'x-xss-protection': [undefined, '0'],
  }
  const faults = Object.entries(expected).flatMap(([name, values]) =>
    values.includes(fields.get(name)) ? [] : [`${name} is ${fields.get(name)}`],
  )
  const referrer = fields.get('referrer-policy')?.split(listSeparator).at(-1) ?? ''
  return privateReferrers.includes(referrer) ? faults : [...faults, `referrer-policy is ${referrer}`]
}

const powerful = ['camera', 'geolocation', 'microphone', 'payment', 'usb']

/** Permissions-Policy: a dictionary (RFC 9651 §3.2) in which nobody has what can spy. */
function permissionFaults(fields: Fields): string[] {
  const text = fields.get('permissions-policy')
  if (text === undefined) return ['no Permissions-Policy']
  const members = new Map<string, string>()
  for (const member of text.split(listSeparator)) {
    const match = /^([a-z][a-z0-9-]*)=(\*|\((?:(?:self|src|"[^"]+")(?: (?:self|src|"[^"]+"))*)?\))$/.exec(
      member,
    )
    if (match === null) return [`Permissions-Policy has ${member}`]
    members.set(match[1] as string, match[2] as string)
  }
  return powerful
    .filter((name) => members.get(name) !== '()')
    .map((name) => `${name} is ${members.get(name)}`)
}

/** The names in OWASP's headers_remove.json that a server or framework of Node.js could send, and its families. */
const telling =
  /^(?:server|via|x-powered-by.*|powered-by|product|host-header|x-generator|x-generated-by|x-framework|x-server-.*|x-(?:b3|datadog|envoy|kong|nextjs|litespeed|aspnet|varnish|runtime)-?.*|sourcemap|x-sourcemap|\$wsep)$/
/** The headers that browsers have given up. */
const dead = /^(?:expect-ct|public-key-pins.*|feature-policy|p3p|x-webkit-csp|x-content-security-policy)$/

function disclosureFaults({ raw }: CheckedReply): string[] {
  return raw.flatMap(([name, value]) => {
    if (telling.test(name.toLowerCase())) return [`${name}: ${value} tells of the server`]
    if (dead.test(name.toLowerCase())) return [`${name} is no longer read`]
    return /volant|node(?:\.js)?\/|\bv?\d+\.\d+\.\d+\b/i.test(value) && !/^(?:etag|content-type)$/i.test(name)
      ? [`${name}: ${value} tells of a version`]
      : []
  })
}

/** CORS: credentials are for named origins, and a strange page is not among them. */
function originFaults(fields: Fields, { strangeOrigin }: Asked): string[] {
  const allowed = fields.get('access-control-allow-origin')
  if (allowed === undefined) return []
  const credentials = fields.get('access-control-allow-credentials') === 'true'
  const faults = credentials && (allowed === '*' || allowed === 'null') ? ['credentials for every page'] : []
  if (strangeOrigin !== undefined && allowed === strangeOrigin) faults.push(`${allowed} may read the reply`)
  if (allowed !== '*' && !/\borigin\b/i.test(fields.get('vary') ?? ''))
    faults.push('Vary does not have Origin')
  return faults
}

/** Caching: nobody gets what is about a person without the server being asked, and a cookie is in no shared cache (RFC 9111 §7.3). */
function cachingFaults({ status }: CheckedReply, fields: Fields, { authenticated }: Asked): string[] {
  const text = fields.get('cache-control') ?? ''
  const has = (name: string): boolean => new RegExp(String.raw`(?:^|,)\s*${name}\s*(?:=|,|$)`, 'i').test(text)
  const isPersonal = authenticated === true || fields.all('set-cookie').length > 0
  if (!isPersonal || status >= 400 || status === 204)
    return has('public') && status >= 400 ? ['an error is public'] : []
  const isKeptApart = has('no-store') || (has('private') && !has('public'))
  const isAskedFor = has('no-cache') && fields.all('set-cookie').length === 0
  return isKeptApart || isAskedFor ? [] : [`Cache-Control of a personal reply is "${text}"`]
}

function typeFaults({ status }: CheckedReply, fields: Fields, { method }: Asked): string[] {
  const type = fields.get('content-type')
  if (status === 204 || status === 304) return type === undefined ? [] : [`${status} with Content-Type`]
  const isEmpty = fields.get('content-length') === '0' || (method === 'HEAD' && type === undefined)
  if (type === undefined) return isEmpty ? [] : ['no Content-Type']
  const needsCharset =
    /^text\/(?!event-stream)|javascript|json|xml/.test(type) && !/^application\/json\b/.test(type)
  return needsCharset && !/;\s*charset=utf-8/i.test(type) ? [`${type} has no charset`] : []
}
