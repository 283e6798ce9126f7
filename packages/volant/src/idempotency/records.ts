/** What a store has of a key: who works on it, or the reply. */
import { randomUUID } from 'node:crypto'

/** A reply as it is kept. */
export interface KeptReply {
  readonly status: number
  /** Name, value, name, value, …: what was added behind this middleware. */
  readonly headers: readonly string[]
  readonly body: string | Buffer | null
  /** True where the send hooks of inner scopes did not see it, since the client had left: they run when it is sent. */
  readonly isRaw: boolean
}

/** `running` has no reply yet, and `lost` is a request that was carried out, whose reply was not kept. */
export type KeyRecord =
  | { readonly state: 'running' | 'lost'; readonly fingerprint: string }
  | { readonly state: 'kept'; readonly fingerprint: string; readonly reply: KeptReply }

/** Makes the text of a key that is worked on. It is another one each time, so that nobody ends the work of another. */
export function runningText(fingerprint: string): string {
  return JSON.stringify({ fingerprint, running: randomUUID() })
}

/** Makes the text of a key whose work is done; null for a reply that is not kept. */
export function doneText(fingerprint: string, reply: KeptReply | null): string {
  if (reply === null) return JSON.stringify({ fingerprint, lost: true })
  const { status, headers, body, isRaw } = reply
  const parts =
    body === null ? {} : typeof body === 'string' ? { text: body } : { bytes: body.toString('base64') }
  return JSON.stringify({ fingerprint, status, headers, ...parts, ...(isRaw ? { raw: true } : {}) })
}

/** A reply as `doneText` writes it. */
const keptReply = /^\{"fingerprint":"([\w-]+)","status":/

/** Gives the text that is left where the text of a reply is forgotten; null for a text that is no reply. */
export function lostText(text: string): string | null {
  const [, fingerprint] = keptReply.exec(text) ?? []
  return fingerprint === undefined ? null : doneText(fingerprint, null)
}

/** Reads a record. Throws for a text that none of these makes. */
export function readRecord(text: string): KeyRecord {
  const { fingerprint, running, lost, status, headers, text: body, bytes, raw } = parsed(text)
  if (typeof fingerprint !== 'string') throw strange()
  if (typeof running === 'string') return { state: 'running', fingerprint }
  if (lost === true) return { state: 'lost', fingerprint }
  if (!Number.isInteger(status) || !isTexts(headers)) throw strange()
  return {
    state: 'kept',
    fingerprint,
    reply: {
      status: status as number,
      headers,
      body: typeof bytes === 'string' ? Buffer.from(bytes, 'base64') : typeof body === 'string' ? body : null,
      isRaw: raw === true,
    },
  }
}

function parsed(text: string): Record<string, unknown> {
  try {
    return (JSON.parse(text) ?? {}) as Record<string, unknown>
  } catch {
    throw strange()
  }
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.length % 2 === 0 && value.every((each) => typeof each === 'string')
}

/** What was found is not shown, since it may be somebody's reply. */
function strange(): Error {
  return new Error('a key has a value that idempotency() did not write: give it a nameSpace of its own')
}
