/** Attackers that wait: they send nothing, read nothing, or never finish a handshake. */
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Attack, type Outcome, byMany } from '../attack.ts'
import type { Target } from '../connection.ts'
import { frame, headers, type } from '@volant/test-kit/http2-frames'
import { shakeHands, takes } from '../healthy.ts'
import { head } from '../hpack.ts'
import { openHeaders } from './resets.ts'

/** The length of the reply to `GET /large`, in bytes. */
const largeReply = 262_144
/**
 * A connection that ends before this share of a time limit was not ended by the limit. Servers check their clocks at
 * intervals.
 */
const earliest = 0.8
const goal = { calls: null, memory: 'share', ends: 'connections' } as const

export const holds: readonly Attack[] = [
  {
    name: 'zero-window',
    about:
      'Replies of 256 KB are asked for and never taken: 100 streams on each of 10 connections, no window.',
    // A waiting reply uses memory. maxBufferedReplies bounds the sum over all connections, and sendTimeout bounds the
    // time.
    goal: { ...goal, memory: 'held', ends: 'streams' },
    times: { full: 100, quick: 20 },
    // The short form asks for three times this limit, the full form for fifteen times.
    limits: { maxBufferedReplies: 16_777_216 },
    run(target, count, { send, grace }, look) {
      const block = head({ path: '/large', encrypted: target.encrypted })
      return byMany(
        target,
        10,
        async (connection) => {
          for (let at = 0; at < count; at += 1) await connection.send(headers(2 * at + 1, block))
          // The wait is shorter than `send`, after which the server drops what waits.
          await connection.until(() => connection.replies >= count, send / 3)
          return count
        },
        { settings: [[4, 0]], until: 'streams', hold: send + grace, look },
      )
    },
  },
  {
    name: 'zero-window-beside-others',
    about: 'The same on 4 connections, until maxBufferedReplies is full. Others ask for the same meanwhile.',
    goal: { ...goal, memory: 'held', ends: 'streams' },
    times: { full: 100, quick: 40 },
    // The replies to one connection fill this limit, or nearly.
    limits: { maxBufferedReplies: 8_388_608 },
    async run(target, count, { send, grace }, look) {
      const block = head({ path: '/large', encrypted: target.encrypted })
      let cut = 0
      const outcome = await byMany(
        target,
        4,
        async (connection) => {
          for (let at = 0; at < count; at += 1) await connection.send(headers(2 * at + 1, block))
          await connection.until(() => connection.replies >= count, send / 3)
          for (let at = 0; at < 3; at += 1) if (!(await takes(target, '/large', largeReply))) cut += 1
          return count
        },
        { settings: [[4, 0]], until: 'streams', hold: send + grace, look },
      )
      return { ...outcome, cut }
    },
  },
  {
    name: 'slow-headers',
    about: 'Header blocks of which a byte comes now and then, on 100 connections.',
    goal,
    times: { full: 100, quick: 50 },
    run: (target, count, { headers: limit, grace }) =>
      byMany(
        target,
        count,
        async (connection) => {
          await connection.send(openHeaders(1, head({ encrypted: target.encrypted })))
          const end = performance.now() + limit + grace
          while (connection.ending === 'open' && performance.now() < end) {
            await connection.send(frame(type.continuation, 0, 1, Buffer.from([0x88])))
            await sleep(limit / 6)
          }
          return 1
        },
        { hold: 500 },
      ),
  },
  {
    name: 'silent',
    about: 'Connections that send the preface and then nothing, of which no request ever comes.',
    goal: { ...goal, ends: null },
    times: { full: 1_000, quick: 200 },
    run: (target, count) => byMany(target, count, async () => 1, { hold: 1_000 }),
  },
  {
    name: 'tls-stalled',
    about: 'TLS handshakes that stop behind the first bytes of a ClientHello, while others make theirs.',
    goal,
    times: { full: 4_000, quick: 1_500 },
    overTls: true,
    run: (target, count, { handshake, grace }) => stall(target, count, handshake, grace),
  },
  {
    name: 'tls-stalled:time-limit',
    about: 'The same where maxHandshakes is beyond them, so that tlsHandshakeTimeout alone ends them.',
    // maxHandshakes does not apply here, so each connection may cost as much as a handshake.
    goal: { ...goal, memory: 'handshake' },
    times: { full: 4_000, quick: 1_500 },
    overTls: true,
    limits: { maxHandshakes: 10_000 },
    async run(target, count, { handshake, grace }) {
      const { early, ...outcome } = await stall(target, count, handshake, grace)
      return early === 0 ? outcome : { ...outcome, faults: [`${early} were ended before the time limit`] }
    },
  },
  {
    name: 'tls-garbage',
    about: 'Bytes without an order, records that are too long, alerts and plain HTTP, where TLS is spoken.',
    goal,
    times: { full: 1_000, quick: 200 },
    overTls: true,
    run: ({ host, port }, count, { handshake, grace }) =>
      byMany(
        { host, port, encrypted: false },
        count,
        async (connection, index) => {
          await connection.send((garbage[index % garbage.length] as () => Buffer)())
          return 1
        },
        { bare: true, hold: handshake + grace },
      ),
  },
]

/**
 * Stalls handshakes while other clients make theirs. Also gives the number of connections that the server ended before
 * the time limit, for example by maxHandshakes.
 */
async function stall(
  { host, port }: Target,
  count: number,
  limit: number,
  grace: number,
): Promise<Outcome & { readonly early: number }> {
  let early = 0
  const others = shakeHands({ host, port, encrypted: true })
  let outcome: Outcome
  let shaken: { readonly made: number; readonly failed: number }
  try {
    outcome = await byMany(
      { host, port, encrypted: false },
      count,
      async (connection) => {
        await connection.send(clientHello)
        return 1
      },
      {
        bare: true,
        // With the default limit all of them must be gone within 11 s. Tests set a shorter limit, and busy machines
        // need the longer wait.
        hold: limit < 10_000 ? limit + grace : limit + 1_000,
        describe(connection) {
          if (connection.lasted === null) return connection.describe()
          const isEarly = connection.lasted < earliest * limit
          if (isEarly) early += 1
          return `${connection.describe()} ${isEarly ? 'before' : 'at'} the time limit`
        },
      },
    )
  } finally {
    shaken = await others.stop()
  }
  const ended = `${outcome.ended}; ${shaken.made - shaken.failed} of ${shaken.made} other handshakes`
  return { ...outcome, ended, cut: shaken.failed, early }
}

/** The first 60 bytes of a handshake record of 512 bytes. */
const clientHello = Buffer.concat([
  Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03]),
  Buffer.alloc(49, 7),
])

const garbage: readonly (() => Buffer)[] = [
  () => randomBytes(1_000),
  () => Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'),
  // These are an unknown record type, the longest length, an empty record, an alert, and data before any handshake.
  () => Buffer.concat([Buffer.from([0x99, 0x03, 0x03, 0x00, 0x20]), randomBytes(32)]),
  () => Buffer.concat([Buffer.from([0x16, 0x03, 0x01, 0xff, 0xff]), randomBytes(4_096)]),
  () => Buffer.from([0x16, 0x03, 0x01, 0x00, 0x00]),
  () => Buffer.from([0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x28]),
  () => Buffer.concat([Buffer.from([0x17, 0x03, 0x03, 0x00, 0x40]), randomBytes(64)]),
  // This ClientHello has inner lengths that contradict the length of the record.
  () => Buffer.concat([Buffer.from([0x16, 0x03, 0x01, 0x00, 0x40, 0x01, 0xff, 0xff, 0xff]), randomBytes(60)]),
]
