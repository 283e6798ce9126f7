import { briefValue } from '../errors/brief-value.ts'
import { VolantError } from '../errors/errors.ts'

/** The most bytes of a reason: a close frame has 125, and the code takes two (RFC 6455 §5.5). */
const longest = 123
const ellipsis = '...'

/** Cuts a text to what a close frame has room for, between two characters. */
export function shortReason(text: string): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= longest) return text
  let end = longest - ellipsis.length
  // A byte 10xxxxxx continues a character of UTF-8.
  while (((bytes[end] as number) & 0xc0) === 0x80) end--
  return `${bytes.toString('utf8', 0, end)}${ellipsis}`
}

/** Throws `E_SOCKET_CLOSE` for what no close frame can say (RFC 6455 §7.4). 1004 to 1006 and 1015 are never sent. */
export function checkClose(code: unknown, reason: unknown): void {
  const isCode =
    Number.isInteger(code) &&
    (((code as number) >= 1000 &&
      (code as number) <= 1014 &&
      !((code as number) >= 1004 && (code as number) <= 1006)) ||
      ((code as number) >= 3000 && (code as number) <= 4999))
  if (!isCode) {
    throw new VolantError(
      'E_SOCKET_CLOSE',
      `a WebSocket is closed with a code from 1000 to 1003, 1007 to 1014 or 3000 to 4999, not ${briefValue(code)}: ws.close() takes 1000, and 4000 to 4999 are free for apps`,
    )
  }
  if (typeof reason !== 'string' || Buffer.byteLength(reason) > longest) {
    throw new VolantError(
      'E_SOCKET_CLOSE',
      `the reason of a close is a text of at most ${longest} bytes in UTF-8, not ${briefValue(reason)}`,
    )
  }
}
