/**
 * Reads replies of HTTP/1.1 from the text of a connection, for clients that must measure times directly at the socket.
 */

export interface TakenReply {
  /** True for status 200 with exactly the expected body. */
  readonly isRight: boolean
  /** The text behind the reply. */
  readonly rest: string
}

/**
 * Takes the first reply from a text with one byte a character. Gives null while it is not complete. A reply without
 * Content-Length is wrong.
 */
export function takeReply(text: string, body: string): TakenReply | null {
  const end = text.indexOf('\r\n\r\n')
  if (end === -1) return null
  const head = text.slice(0, end)
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
  if (length === undefined) return { isRight: false, rest: '' }
  const start = end + 4
  const whole = start + Number(length)
  if (text.length < whole) return null
  const isRight = head.startsWith('HTTP/1.1 200') && text.slice(start, whole) === body
  return { isRight, rest: text.slice(whole) }
}
