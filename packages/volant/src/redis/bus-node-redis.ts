/** Clients of `redis` as a bus uses them. */
import type { Listener, ListenerEvents, Talks } from './bus-client.ts'
import { hear } from './hear.ts'

type Take = (message: Buffer, channel: Buffer) => void

interface Client {
  readonly isReady?: boolean
  on(event: string, listener: (...args: unknown[]) => void): unknown
  connect(): Promise<unknown>
  destroy(): void
  duplicate(): Client
  ping?(): Promise<unknown>
  publish(channel: string, message: Buffer): Promise<unknown>
  sPublish(channel: string, message: Buffer): Promise<unknown>
  subscribe(channels: readonly string[], take: Take, asBuffers: true): Promise<unknown>
  sSubscribe(channel: string, take: Take, asBuffers: true): Promise<unknown>
  unsubscribe(channel: string, take: Take, asBuffers: true): Promise<unknown>
  sUnsubscribe(channel: string, take: Take, asBuffers: true): Promise<unknown>
}

export function ofNodeRedis(given: object): Talks {
  const client = given as Client
  hear(client)
  const isCluster = 'masters' in client
  return {
    isCluster,
    isReady: () => client.isReady ?? true,
    publish: (channel, bytes, isSharded) =>
      isSharded ? client.sPublish(channel, bytes) : client.publish(channel, bytes),
    listen: (events) => listener(client.duplicate(), isCluster, events),
  }
}

function listener(client: Client, isCluster: boolean, events: ListenerEvents): Listener {
  let error = new Error('the connection was lost')
  const note = (given: unknown): void => {
    if (given instanceof Error) error = given
  }
  client.on('error', note)
  if (isCluster) {
    // Which of its connections receives is not said, and one may have moved to another node: when any was lost, the next
    // that is there is taken for a new beginning.
    let isBroken = false
    client.on('node-error', note)
    client.on('node-reconnecting', () => (isBroken = true))
    client.on('node-ready', () => {
      if (!isBroken) return
      isBroken = false
      events.down(error)
      events.up()
    })
  } else {
    client.on('reconnecting', () => events.down(error))
    client.on('ready', () => events.up())
    client.on('terminated', () => events.ended(error))
  }
  const take: Take = (message, channel) => events.message(channel.toString(), message)
  return {
    connect: () =>
      void client.connect().then(
        () => isCluster && events.up(),
        (cause: unknown) => {
          note(cause)
          events.ended(error)
        },
      ),
    subscribe: (channels) =>
      events.isSharded
        ? Promise.all(channels.map((channel) => client.sSubscribe(channel, take, true)))
        : client.subscribe(channels, take, true),
    unsubscribe: (channel) =>
      events.isSharded ? client.sUnsubscribe(channel, take, true) : client.unsubscribe(channel, take, true),
    // A cluster has several connections, and looks after them by itself.
    ping: () => client.ping?.() ?? Promise.resolve(),
    end: () => client.destroy(),
  }
}
