/** The buses that the suite runs on: how each is made, and what its server can suffer. */
import { connect } from '@nats-io/transport-node'
import { Cluster, Redis } from 'ioredis'
import { createClient, createCluster } from 'redis'
import type { Bus, BusOptions } from 'volant/bus'
import { natsBus } from 'volant/nats'
import { redisBus } from 'volant/redis'

/** A bus of a test, and the end of the connection that it was given. */
export interface Joined {
  readonly bus: Bus
  end(): Promise<void>
}

export type BusName = 'redis' | 'ioredis' | 'redis cluster' | 'ioredis cluster' | 'nats'

/** Makes a bus at a port of this machine, whose connections come back as soon as they can. */
export async function joinBus(name: BusName, port: number, options: BusOptions = {}): Promise<Joined> {
  const host = '127.0.0.1'
  if (name === 'redis') {
    const client = createClient({ url: `redis://${host}:${port}`, socket: { reconnectStrategy: 20 } })
    const bus = redisBus(client, options)
    client.connect().catch(() => {})
    return joined(bus, () => client.destroy())
  }
  if (name === 'ioredis') {
    const client = new Redis({ port, host, retryStrategy: () => 20 })
    return joined(redisBus(client, options), () => client.disconnect())
  }
  if (name === 'redis cluster') {
    const client = createCluster({
      rootNodes: [{ url: `redis://${host}:${port}` }],
      defaults: { socket: { reconnectStrategy: 20 } },
    })
    const bus = redisBus(client, options)
    client.connect().catch(() => {})
    return joined(bus, () => client.destroy())
  }
  if (name === 'ioredis cluster') {
    const client = new Cluster([{ host, port }], { clusterRetryStrategy: () => 20 })
    return joined(redisBus(client, options), () => client.disconnect())
  }
  const connection = await connect({
    servers: `${host}:${port}`,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 20,
    reconnectJitter: 0,
  })
  return joined(natsBus(connection, options), () => void connection.close())
}

function joined(bus: Bus, end: () => void): Joined {
  return {
    bus,
    end: async () => {
      await bus.close()
      end()
    },
  }
}
