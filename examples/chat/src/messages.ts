/** What is sent over the WebSocket, and what is kept. The server checks it, the page has the types. */
import { z } from 'zod'

export const Name = z
  .string()
  .regex(/^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,29}$/u, 'A name has 1 to 30 letters and digits')
export const Room = z.enum(['lobby', 'kitchen', 'garden'])

export const Message = z.object({
  /** The number of the message in its room: 1, 2, 3 … without holes, so that a page sees what it missed. */
  id: z.int(),
  /** The page made it up. A message that is sent twice is kept once. */
  key: z.uuid(),
  by: Name,
  text: z.string(),
  /** Milliseconds since 1970. */
  at: z.int(),
})

/** What a page sends. */
export const FromPage = z.discriminatedUnion('type', [
  z.object({ type: z.literal('say'), key: z.uuid(), text: z.string().trim().min(1).max(2_000) }),
  z.object({ type: z.literal('typing') }),
  z.object({ type: z.literal('ping') }),
])

/** What the server sends. */
export const ToPage = z.discriminatedUnion('type', [
  z.object({ type: z.literal('said'), message: Message }),
  z.object({ type: z.literal('members'), names: z.array(z.string()) }),
  z.object({ type: z.literal('typing'), name: z.string() }),
  /** The page asks for the last messages: at the beginning, and when some may be missing. */
  z.object({ type: z.literal('catch up') }),
  /** This message was not kept. */
  z.object({ type: z.literal('refused'), key: z.uuid(), why: z.string() }),
  z.object({ type: z.literal('pong') }),
])

export type FromPage = z.infer<typeof FromPage>
export type Message = z.infer<typeof Message>
export type Room = z.infer<typeof Room>
export type ToPage = z.infer<typeof ToPage>
