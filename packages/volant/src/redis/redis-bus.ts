/** `redisBus()` passes messages between processes by Redis' PUBLISH and SUBSCRIBE. */
import { bad } from '../options/bad-option.ts'
import { checkFlag, checkInteger, checkNames } from '../options/checks.ts'
import type { Bus } from '../types/bus.ts'
import { type BusOptions, busOptionNames, planBus } from '../bus/options.ts'
import { WiredBus } from '../bus/wired-bus.ts'
import { talksOf, type RedisBusClient } from './bus-client.ts'
import { RedisWire } from './redis-wire.ts'

/** The options of `redisBus`. */
export interface RedisBusOptions extends BusOptions {
  /**
   * True uses SPUBLISH and SSUBSCRIBE, with which a cluster passes a message on to the nodes of its slot alone. They need
   * Redis 7 or Valkey. All buses that are to hear each other have the same. Default: true for the client of a cluster.
   */
  sharded?: boolean | undefined
  /**
   * Milliseconds between two pings of the connection that receives, from 100 to 3,600,000. One without an answer until
   * the next is connected anew, which is a gap. Default 15,000.
   */
  pingInterval?: number | undefined
}

/**
 * Makes a bus of a client that is connected, or will be: one of `redis` or of `ioredis`, also of their clusters, in
 * version 6 of either. The server is Redis from version 5 on, or Valkey:
 *
 *     const client = createClient({ url: 'redis://localhost' })
 *     client.connect().catch(() => {})
 *     const app = createApp({ bus: redisBus(client) })
 *
 * The client sends; its `duplicate()`, which the bus connects with its first topic, receives. A topic is a channel, such
 * as `volant-bus:t:TOPIC`. A server that cuts the receiver off, since it reads too slowly (`client-output-buffer-limit
 * pubsub`: 32 MiB, or 8 MiB for a minute), or that is started anew, is a gap for all topics. Closing the client is left
 * to you. Throws `E_BAD_OPTION`.
 */
export function redisBus(client: RedisBusClient, options: RedisBusOptions = {}): Bus {
  checkNames('redisBus', options, [...busOptionNames, 'sharded', 'pingInterval'])
  const plan = planBus('redisBus', options)
  const pingInterval = checkInteger(
    'redisBus: pingInterval',
    options.pingInterval ?? 15_000,
    [100, 3_600_000],
    'an integer from 100 to 3,600,000',
  )
  const talks = talksOf(client)
  if (talks === null) {
    throw bad('redisBus', client, 'a client of redis (createClient()) or ioredis (new Redis())')
  }
  const isSharded = checkFlag('redisBus: sharded', options.sharded, talks.isCluster)
  return new WiredBus(new RedisWire(talks, isSharded, pingInterval), plan)
}
