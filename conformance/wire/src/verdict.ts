import { createHash } from 'node:crypto'

import type { Case, ReplyExpected, Saw } from './case.ts'
import type { Played } from './client.ts'
import type { Reply } from './replies.ts'

/** What the echo handler reports about the request it saw. */
export type Seen = Required<Omit<Saw, 'headers'>> & { readonly headers: Readonly<Record<string, string>> }

/** One line a person can read and a file can record: statuses, what the handler saw, the end of the connection. */
export function summary(played: Played): string {
  const replies = played.read.replies.map((reply) => {
    if (isCanary(reply)) return `${reply.status} (the canary)`
    const seen = seenBy(reply)
    if (seen === null) return String(reply.status)
    const query = seen.query === '' ? '' : `?${seen.query}`
    return `${reply.status} (${seen.method} ${shorten(`${seen.path}${query}`)}${seen.length > 0 ? `, body ${seen.length}` : ''})`
  })
  const fault = played.read.fault === null ? '' : `; fault: ${played.read.fault}`
  const early = played.early > 0 ? '; replied early' : ''
  return `${replies.length === 0 ? 'no reply' : replies.join(', ')}; ${played.end}${early}${fault}`
}

/** Whether octets that are no request, or must not be read any more, were answered as one. */
export function isCanary(reply: Reply): boolean {
  return reply.body === 'smuggled'
}

/** What a case expects, in the same form. */
export function expectedSummary(one: Case): string {
  const replies = one.expected.replies.map((reply) => {
    const status = typeof reply.status === 'number' ? String(reply.status) : reply.status.join(' or ')
    return reply.optional === true ? `[${status}]` : status
  })
  const end =
    one.expected.end === 'either' || one.expected.end === 'any' ? 'open or closed' : one.expected.end
  return `${replies.length === 0 ? 'no reply' : replies.join(', ')}; ${end}`
}

/** Everything in which `played` is not what the case expects; empty when it passes. */
export function differences(one: Case, played: Played): string[] {
  const { expected } = one
  const { read } = played
  const list: string[] = []
  if (read.fault !== null) list.push(`malformed reply: ${read.fault}`)
  if (read.partial && read.fault === null) list.push('an incomplete reply')
  if (played.early > 0) list.push('replied before the request was complete')
  const required = expected.replies.filter((reply) => reply.optional !== true).length
  if (read.replies.length < required || read.replies.length > expected.replies.length) {
    list.push(`${read.replies.length} replies instead of ${expected.replies.length}`)
  }
  for (const [index, reply] of read.replies.entries()) {
    const wanted = expected.replies[index]
    if (wanted !== undefined)
      list.push(...replyDifferences(wanted, reply).map((text) => `reply ${index + 1}: ${text}`))
  }
  if (expected.interim === 'must' && read.interim !== 1)
    list.push(`${read.interim} interim replies instead of 1`)
  if (expected.interim === 'may' && read.interim > 1) list.push(`${read.interim} interim replies`)
  if (expected.interim === 'never' && read.interim > 0) list.push('an interim reply')
  if (!endFits(expected.end, played.end)) list.push(`connection ${played.end} instead of ${expected.end}`)
  list.push(...closeDifferences(read.replies, played))
  return list
}

function endFits(expected: Case['expected']['end'], end: Played['end']): boolean {
  if (expected === 'any') return true
  if (expected === 'either') return end !== 'silent'
  return expected === end
}

/** A reply that says close is the last one, and the connection then closes (RFC 9112 §9.6). */
function closeDifferences(replies: readonly Reply[], played: Played): string[] {
  const first = replies.findIndex((reply) => /(^|,)\s*close\s*(,|$)/i.test(reply.headers['connection'] ?? ''))
  if (first < 0) return []
  const list: string[] = []
  if (first < replies.length - 1) list.push('a reply after one that says close')
  if (played.end === 'open') list.push('open after a reply that says close')
  return list
}

function replyDifferences(wanted: ReplyExpected, reply: Reply): string[] {
  const list: string[] = []
  const statuses: readonly number[] = typeof wanted.status === 'number' ? [wanted.status] : wanted.status
  if (!statuses.includes(reply.status)) return [`status ${reply.status} instead of ${statuses.join(' or ')}`]
  for (const [name, value] of Object.entries(wanted.headers ?? {})) {
    const actual = reply.headers[name] ?? null
    if (value === '*' ? actual === null : actual !== value)
      list.push(`${name}: ${show(actual)} instead of ${show(value)}`)
  }
  if (wanted.body !== undefined && reply.body !== wanted.body)
    list.push(`body ${show(reply.body)} instead of ${show(wanted.body)}`)
  if (JSON.stringify(reply.trailers) !== JSON.stringify(wanted.trailers ?? []))
    list.push(
      `trailers ${show(JSON.stringify(reply.trailers))} instead of ${JSON.stringify(wanted.trailers ?? [])}`,
    )
  if (wanted.saw !== undefined) list.push(...sawDifferences(wanted.saw, seenBy(reply)))
  return list
}

function sawDifferences(wanted: Saw, seen: Seen | null): string[] {
  if (seen === null) return ['the echo handler did not answer']
  const list: string[] = []
  for (const name of ['method', 'path', 'query', 'version', 'host', 'length'] as const) {
    if (wanted[name] !== undefined && wanted[name] !== seen[name]) {
      list.push(`${name} ${show(seen[name])} instead of ${show(wanted[name])}`)
    }
  }
  if (wanted.body !== undefined && bodyDigest(wanted.body) !== seen.body) {
    list.push(`body ${show(seen.body)} instead of ${show(bodyDigest(wanted.body))}`)
  }
  for (const [name, value] of Object.entries(wanted.headers ?? {})) {
    const actual = seen.headers[name] ?? null
    if (actual !== value) list.push(`field ${name} ${show(actual)} instead of ${show(value)}`)
  }
  return list
}

/** A body as the echo handler reports it: itself up to 256 octets, then its hash. */
export function bodyDigest(body: string): string {
  if (body.length <= 256) return body
  return `sha256:${createHash('sha256').update(body, 'latin1').digest('hex')}`
}

function seenBy(reply: Reply): Seen | null {
  if (reply.headers['x-echo'] !== '1' || reply.body === '') return null
  // The handler sends JSON in UTF-8; the reader keeps octets.
  return JSON.parse(Buffer.from(reply.body, 'latin1').toString('utf8')) as Seen
}

function show(value: string | number | null | undefined): string {
  return value === null || value === undefined ? 'absent' : JSON.stringify(shorten(String(value)))
}

function shorten(text: string): string {
  return text.length > 60 ? `${text.slice(0, 40)}… (${text.length})` : text
}
