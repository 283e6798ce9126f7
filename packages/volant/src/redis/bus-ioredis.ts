/** Clients of `ioredis` as a bus uses them. */
import type { Listener, ListenerEvents, Talks } from './bus-client.ts'
import { hear } from './hear.ts'

interface Client {
  readonly status?: string
  readonly isCluster?: boolean
  readonly options?: { readonly connectionName?: string }
  on(event: string, listener: (...args: never[]) => void): unknown
  connect(): Promise<unknown>
  disconnect(): void
  /** A cluster takes nodes before options. */
  duplicate(...args: unknown[]): Client
  /** The nodes of a cluster. */
  nodes?(): Client[]
  ping(): Promise<unknown>
  publish(channel: string, message: Buffer): Promise<unknown>
  spublish(channel: string, message: Buffer): Promise<unknown>
  subscribe(...channels: string[]): Promise<unknown>
  ssubscribe(...channels: string[]): Promise<unknown>
  unsubscribe(channel: string): Promise<unknown>
  sunsubscribe(channel: string): Promise<unknown>
}

/** Whoever subscribes anew by itself does not say when that is done. */
const own = { autoResubscribe: false, lazyConnect: true, enableOfflineQueue: true }

export function ofIoRedis(given: object): Talks {
  const client = given as Client
  hear(client)
  const isCluster = client.isCluster === true
  return {
    isCluster,
    // With lazyConnect the first command connects a client that waits.
    isReady: () => client.status === 'ready' || client.status === 'wait',
    publish: (channel, bytes, isSharded) =>
      isSharded ? client.spublish(channel, bytes) : client.publish(channel, bytes),
    listen: (events) => {
      if (!isCluster) return listener(client.duplicate(own), events)
      if (!events.isSharded)
        return listener(anyNode(client).duplicate({ ...own, retryStrategy: null }), events)
      return ofCluster(client.duplicate([], { lazyConnect: true, shardedSubscribers: true }), events)
    },
  }
}

/** Every node of a cluster has all messages that are not sharded. */
function anyNode(client: Client): Client {
  const nodes = client.nodes?.() ?? []
  const node = nodes[Math.floor(Math.random() * nodes.length)]
  if (node === undefined) throw new Error('no node of the cluster is known')
  return node
}

/** Its connections that receive come and go by themselves: where one was lost, all begins anew. */
function ofCluster(client: Client, events: ListenerEvents): Listener {
  const name = 'ioredis-cluster(ssubscriber)'
  client.on('-node', (node: Client) => {
    if (node.options?.connectionName?.startsWith(name) === true) {
      events.ended(new Error('a connection that receives was lost'))
    }
  })
  return listener(client, events)
}

function listener(client: Client, events: ListenerEvents): Listener {
  let last = new Error('the connection was lost')
  client.on('error', (error: Error) => {
    last = error
  })
  client.on('ready', () => events.up())
  client.on('reconnecting', () => events.down(last))
  client.on('end', () => events.ended(last))
  const take = (channel: Buffer, bytes: Buffer): void => events.message(channel.toString(), bytes)
  client.on(events.isSharded ? 'smessageBuffer' : 'messageBuffer', take)
  return {
    connect: () => void client.connect().catch(() => {}),
    // Channels of several slots cannot be asked for at once.
    subscribe: (channels) =>
      events.isSharded
        ? Promise.all(channels.map((channel) => client.ssubscribe(channel)))
        : client.subscribe(...channels),
    unsubscribe: (channel) => (events.isSharded ? client.sunsubscribe(channel) : client.unsubscribe(channel)),
    ping: () => client.ping(),
    end: () => client.disconnect(),
  }
}
