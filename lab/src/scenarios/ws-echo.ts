import type { Scenario, Variant } from '../scenario.ts'
import { load } from './load.ts'

function variant(name: string, connections: number, bytes: number): Variant {
  return {
    name,
    lane: 'plain',
    measure: {
      kind: 'echo',
      load: load([], { connections }),
      messages: { path: '/ws', bytes, type: 'text' },
    },
  }
}

/** Ours: what a message and its echo cost, as gateways and chats have them. */
export const wsEcho: Scenario = {
  name: 'ws-echo',
  title: 'WebSocket: echo',
  about:
    'Text of 128 bytes on 512 sockets, each of which sends when its last message has come back; the same on 1 and on 10, and other lengths.',
  document: null,
  program: 'sockets',
  headline: 'messageCpu',
  sweep: true,
  variants: [
    variant('128 B', 512, 128),
    variant('128 B on 10 sockets', 10, 128),
    variant('128 B on 1 socket', 1, 128),
    variant('16 B', 512, 16),
    variant('4 KiB', 512, 4096),
  ],
  proofs: [],
}
