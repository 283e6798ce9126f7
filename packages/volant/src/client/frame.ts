/** What frames carry: messages, and the reason of a close frame. */

/** What a frame has in it: text, or bytes. */
export type Frame = string | Uint8Array<ArrayBuffer>

/**
 * Gives the content of a frame. Bytes are copied, since the message may wait. Throws `TypeError` for a value that has no
 * JSON.
 */
export function frameOf(message: unknown): Frame {
  if (message instanceof ArrayBuffer) return new Uint8Array(message.slice(0))
  if (message instanceof Uint8Array) return new Uint8Array(message)
  const text = JSON.stringify(message) as string | undefined
  if (text === undefined) throw new TypeError(`the message has no JSON: it is of type ${typeof message}`)
  return text
}

/** Gives the bytes of a frame's content. */
export function sizeOf(frame: Frame): number {
  return typeof frame === 'string' ? new TextEncoder().encode(frame).length : frame.byteLength
}

/** Gives the message of a frame. Throws `SyntaxError` where it has to be JSON and is not, as for bytes. */
export function messageOf(data: string | ArrayBuffer, isJSON: boolean): unknown {
  if (isJSON) return JSON.parse(typeof data === 'string' ? data : '')
  return typeof data === 'string' ? data : new Uint8Array(data)
}

/** Throws `TypeError` for what no close frame of a client may have (HTML §9.3.2). */
export function checkClose(code: number, reason: string): void {
  if (code !== 1000 && !(Number.isInteger(code) && code >= 3000 && code <= 4999))
    throw new TypeError(`a socket cannot be closed with the code ${code}: 1000, or 3000 to 4999`)
  if (new TextEncoder().encode(reason).length > 123)
    throw new TypeError('the reason of a close frame cannot have more than 123 bytes')
}
