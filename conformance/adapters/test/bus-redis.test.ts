/** Redis alone does this to a bus: connections die without a word, and clusters have no sharded channels. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { Cluster, Redis } from 'ioredis'
import { createClient, createCluster } from 'redis'
import type { Bus } from 'volant/bus'
import { redisBus } from 'volant/redis'
import { eventually, RedisServer, withoutRedis } from '@volant/test-kit'
import { startCluster } from './redis/cluster.ts'
import { Tally } from './bus/tally.ts'

/** A way to a server that can stop passing anything on, without a word to either end. */
class Road {
  isOpen = true
  readonly #sockets = new Set<Socket>()
  readonly #server = createServer((near) => {
    const far = connect(this.#to, '127.0.0.1')
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(from)
      from.on('data', (bytes) => void (this.isOpen && to.write(bytes)))
      from.on('error', () => {})
      from.on('close', () => {
        this.#sockets.delete(from)
        if (this.isOpen) to.destroy()
      })
    }
  })
  readonly #to: number

  constructor(to: number) {
    this.#to = to
  }

  async open(): Promise<number> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return (this.#server.address() as AddressInfo).port
  }

  close(): void {
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
  }
}

describe('redisBus', { skip: withoutRedis }, () => {
  let server: RedisServer
  before(async () => {
    server = await (await RedisServer.make()).start()
  })
  after(() => server.end())

  for (const name of ['redis', 'ioredis'] as const) {
    test(`a connection that receives and dies without a word is noticed by a ping, with ${name}`, async () => {
      const road = new Road(server.port)
      const port = await road.open()
      const options = { pingInterval: 1_000, report: () => {} }
      const url = `redis://127.0.0.1:${port}`
      const client = name === 'redis' ? createClient({ url }) : new Redis(url)
      client.on('error', () => {})
      if ('connect' in client && name === 'redis')
        (client as ReturnType<typeof createClient>).connect().catch(() => {})
      const bus: Bus = redisBus(client as Redis, options)
      const direct = new Redis(server.port, '127.0.0.1')
      const far = redisBus(direct)
      const tally = new Tally()
      bus.subscribe('t', tally)
      let published = 0
      const publish = (): void => far.publish('t', `x:${published++}`)
      try {
        await bus.ready('t')
        publish()
        await eventually(() => tally.received === 1, 'it arrives')
        road.isOpen = false
        publish()
        await eventually(() => !bus.stats().connected, 'it is noticed')
        road.isOpen = true
        await eventually(() => (tally.figures().gaps['reconnected'] ?? 0) > 0, 'it is a gap')
        // A busy machine may be late for another ping: what follows its gap arrives.
        await eventually(() => {
          publish()
          return tally.received > 1
        }, 'messages arrive again')
        await eventually(() => tally.last.get('x t') === published - 1, 'the last one arrives')
        assert.ok(tally.figures().lost > 0)
        assert.equal(tally.figures().lost, published - tally.received)
        assert.equal(tally.figures().wrong, 0)
      } finally {
        await Promise.all([bus.close(), far.close()])
        if (name === 'redis') (client as ReturnType<typeof createClient>).destroy()
        else (client as Redis).disconnect()
        direct.disconnect()
        road.close()
      }
    })
  }

  test('a subscription that the rules of the server forbid is reported, and publishing goes on', async () => {
    const admin = new Redis(server.port, '127.0.0.1')
    await admin.call('ACL', 'SETUSER', 'shy', 'on', '>secret', '+@all', '~*', 'resetchannels', '&open:*')
    const reports: string[] = []
    const client = new Redis({ port: server.port, host: '127.0.0.1', username: 'shy', password: 'secret' })
    const bus = redisBus(client, { report: (error) => void reports.push(String(error)) })
    bus.subscribe('t', new Tally())
    await eventually(() => reports.length > 0, 'it is reported')
    assert.match(reports[0] as string, /the server of the bus fails \(.*NOPERM/)
    bus.publish('t', 'x')
    await eventually(() => bus.stats().unsent === 1, 'it is counted')
    assert.equal(reports.length, 1)
    await bus.close()
    client.disconnect()
    admin.disconnect()
  })

  test('what is no client is refused', () => {
    for (const client of [null, {}, { publish() {}, duplicate() {}, on() {} }]) {
      assert.throws(() => redisBus(client as never), /redisBus takes a client of redis .* or ioredis/)
    }
    const client = new Redis({ lazyConnect: true })
    assert.throws(() => redisBus(client, { pingInterval: 1 }), { code: 'E_BAD_OPTION' })
    client.disconnect()
  })
})

describe('redisBus in a cluster without sharded channels', { skip: withoutRedis }, () => {
  let server: RedisServer
  before(async () => {
    server = await startCluster()
  })
  after(() => server.end())

  test('clients of redis and ioredis hear each other, also after the node was started anew', async () => {
    const one = createCluster({
      rootNodes: [{ url: `redis://127.0.0.1:${server.port}` }],
      defaults: { socket: { reconnectStrategy: 20 } },
    })
    const two = new Cluster([{ host: '127.0.0.1', port: server.port }], { clusterRetryStrategy: () => 20 })
    const options = { sharded: false, report: () => {} }
    const buses = [redisBus(one, options), redisBus(two, options)] as const
    await one.connect()
    const tallies = [new Tally(), new Tally()] as const
    try {
      await eventually(() => buses.every((bus) => bus.stats().connected), 'both are connected')
      for (const [at, bus] of buses.entries()) bus.subscribe('t', tallies[at as 0 | 1])
      await Promise.all(buses.map((bus) => bus.ready('t')))
      buses[0].publish('t', 'one:0')
      buses[1].publish('t', 'two:0')
      await eventually(() => tallies.every(({ received }) => received === 2), 'both hear both')
      await server.kill()
      await server.start()
      await eventually(
        () => tallies.every((each) => (each.figures().gaps['reconnected'] ?? 0) > 0),
        'both are told',
      )
      let number = 0
      await eventually(() => {
        number++
        buses[0].publish('t', `one:${number}`)
        buses[1].publish('t', `two:${number}`)
        return tallies.every(({ last }) => (last.get('one t') ?? 0) > 0 && (last.get('two t') ?? 0) > 0)
      }, 'both hear both again')
      assert.deepEqual(
        tallies.map((each) => each.figures().wrong),
        [0, 0],
      )
    } finally {
      await Promise.all(buses.map((bus) => bus.close()))
      one.destroy()
      two.disconnect()
    }
  })
})
