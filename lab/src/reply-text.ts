/** Replies of HTTP/1.1 in the text of a connection, for clients that put nothing between the socket and the clock. */

export interface TakenReply {
  /** Status 200 and exactly the body that is expected. */
  readonly isRight: boolean
  /** What came behind it. */
  readonly rest: string
}

/** Takes the first reply, of one byte a character; null while it is not whole. One without Content-Length is wrong. */
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
