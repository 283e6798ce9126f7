/** Forms as bytes, the parser and a route for them. */
import type { App } from 'volant'
import { type KnownLimits, MultipartParser, Token } from '../../src/forms/multipart.ts'

export const usual: KnownLimits = {
  maxFormParts: 100,
  maxFormFiles: 10,
  maxFileSize: 10_000,
  maxFieldSize: 1000,
}

export type Seen = [name: string, filename: string | undefined, content: string, type: string][]

/** Parses `body`, which comes in chunks of these lengths. */
export function parse(body: Buffer, cut: number, limits = usual, boundary = 'b'): Seen {
  const parser = new MultipartParser(boundary, limits)
  const seen: Seen = []
  let chunks: Buffer[] = []
  let isOver = false
  for (let at = 0; at < body.length; at += cut) {
    parser.feed(Buffer.from(body.subarray(at, at + cut)))
    for (;;) {
      const token = parser.read()
      if (token === Token.more) break
      if (token === Token.part) chunks = []
      else if (token === Token.data) chunks.push(parser.data)
      else if (token === Token.end) isOver = true
      else {
        const { name = '', filename, type = '' } = parser.head ?? {}
        seen.push([name, filename, Buffer.concat(chunks).toString('latin1'), type])
      }
    }
  }
  if (!isOver) throw Object.assign(new Error('it has no end'), { status: 400 })
  return seen
}

export const lines = (...all: string[]) => Buffer.from(all.join('\r\n'))

export const field = (name: string, value: string) =>
  lines('--b', `Content-Disposition: form-data; name="${name}"`, '', value, '')

export const form = (...parts: (Buffer | string)[]) =>
  Buffer.concat([...parts.map((part) => Buffer.from(part)), Buffer.from('--b--\r\n')])

export const withHead = (...head: string[]) => form(lines('--b', ...head, '', 'x', ''))

export const disposition = (rest: string) => withHead(`Content-Disposition: form-data${rest}`)

/** Sends a form to a route that tells what it read. */
export async function ask(app: App, body: unknown, headers: Record<string, string> = {}, url = '/f') {
  const { status, body: bytes } = await app.inject({ method: 'POST', url, body, headers })
  const reply = JSON.parse(bytes.toString()) as { code?: string; detail?: string }
  return status === 200 ? reply : [status, reply.code, reply.detail]
}

export const type = (boundary: string) => ({ 'content-type': `multipart/form-data; boundary=${boundary}` })
