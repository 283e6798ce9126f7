/** `natsBus()` passes messages between processes by core NATS. */
import type { Bus } from '../types/bus.ts'
import { type BusOptions, busOptionNames, planBus } from '../bus/options.ts'
import { WiredBus } from '../bus/wired-bus.ts'
import { bad } from '../options/bad-option.ts'
import { checkNames } from '../options/checks.ts'
import { NatsWire, type NatsBusConnection } from './nats-wire.ts'

/**
 * Makes a bus of a connection of `@nats-io/transport-node`:
 *
 *     const connection = await connect({ servers: 'nats://localhost', maxReconnectAttempts: -1 })
 *     const app = createApp({ bus: natsBus(connection) })
 *
 * A topic is a subject, such as `volant-bus.t.TOPIC`; what a subject may not have is written as in a URL. Without
 * `maxReconnectAttempts: -1` a connection is given up after ten attempts, and the bus with it. A server that cuts the
 * connection off, since it reads too slowly, or that is started anew, is a gap for all topics. A message with its head of
 * 23 bytes may not be longer than `max_payload` of the server, 1 MiB by default. Closing the connection is left to you.
 * Throws `E_BAD_OPTION`.
 */
export function natsBus(connection: NatsBusConnection, options: BusOptions = {}): Bus {
  checkNames('natsBus', options, busOptionNames)
  const plan = planBus('natsBus', options)
  for (const name of ['publish', 'subscribe', 'flush', 'status', 'isClosed'] as const) {
    if (typeof connection?.[name] !== 'function') {
      throw bad('natsBus', connection, 'a connection of @nats-io/transport-node: await connect()')
    }
  }
  return new WiredBus(new NatsWire(connection), plan)
}
