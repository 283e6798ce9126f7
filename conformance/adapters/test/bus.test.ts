/** One suite for all buses, on real servers that are killed, stopped and started anew. */
import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { after, afterEach, before, describe, test } from 'node:test'
import { eventually, freePort, NatsServer, RedisServer, withoutNats, withoutRedis } from '@volant/test-kit'
import { type Bus, type BusOptions, memoryBus } from 'volant/bus'
import { Redis } from 'ioredis'
import { type BusName, joinBus, type Joined } from './bus/servers.ts'
import { type Heard, Tally } from './bus/tally.ts'
import { startCluster } from './redis/cluster.ts'

// Clusters take long to be connected again.
const clusters: readonly BusName[] =
  process.env['TEST_ALL'] === '1' ? ['redis cluster', 'ioredis cluster'] : []
const names: readonly BusName[] = ['redis', 'ioredis', 'nats', ...clusters]

/** How many messages a process has published to each topic. */
interface Published {
  readonly published: number
  readonly stats: unknown
}

async function startServer(name: BusName): Promise<RedisServer | NatsServer> {
  if (name === 'nats') return (await NatsServer.make()).start()
  return name.endsWith('cluster') ? startCluster() : (await RedisServer.make()).start()
}

/** Has the server keep so few bytes for one that reads slowly; gives what waits until it has cut one off. */
async function limitBuffers(server: RedisServer | NatsServer): Promise<() => Promise<void>> {
  const bytes = 1_048_576
  if (server instanceof NatsServer) {
    const monitor = await freePort()
    await server.kill()
    await server.start({ max_pending: bytes, write_deadline: '1s', http: `127.0.0.1:${monitor}` })
    const cut = async (): Promise<boolean> => {
      const figures = await (await fetch(`http://127.0.0.1:${monitor}/varz`)).json()
      return (figures as { slow_consumers: number }).slow_consumers > 0
    }
    return () => eventually(cut, 'the slow one is cut off')
  }
  const client = new Redis({ port: server.port, host: '127.0.0.1' })
  await client.call('CONFIG', 'SET', 'client-output-buffer-limit', `pubsub ${bytes} 0 0`)
  client.disconnect()
  // It has cut off one whose buffer is full when it answers for the message that filled it.
  return () => Promise.resolve()
}

describe('memoryBus', () => {
  passes(async () => {
    const bus = memoryBus()
    return [bus, bus]
  })
})

for (const name of names) {
  describe(`a bus of ${name}`, { skip: name === 'nats' ? withoutNats : withoutRedis }, () => {
    let server: RedisServer | NatsServer
    let joined: Joined[] = []
    const children: ChildProcess[] = []
    before(async () => {
      server = await startServer(name)
    })
    after(() => server.end())
    afterEach(async () => {
      for (const child of children.splice(0)) child.kill('SIGKILL')
      await Promise.all(joined.map(({ end }) => end()))
      joined = []
    })

    const join = async (options: BusOptions = {}): Promise<Bus> => {
      const one = await joinBus(name, server.port, { report: () => {}, ...options })
      joined.push(one)
      await eventually(() => one.bus.stats().connected, 'the bus is connected')
      return one.bus
    }
    const start = (file: string, ...values: (string | number)[]): ChildProcess => {
      const child = fork(
        new URL(`./bus/${file}.js`, import.meta.url),
        [name, server.port, ...values].map(String),
      )
      children.push(child)
      return child
    }
    const ask = async <T>(child: ChildProcess, question: unknown = '?'): Promise<T> => {
      const answer = once(child, 'message')
      child.send(question as string)
      return (await answer)[0] as T
    }

    passes(async () => [await join(), await join()])

    test('three processes: nothing comes twice or out of order, and what is lost is in gaps', async (t) => {
      const tally = new Tally()
      const bus = await join()
      const topics = ['a', 'b']
      for (const topic of topics) bus.subscribe(topic, tally)
      await Promise.all(topics.map((topic) => bus.ready(topic)))
      const publishers = ['one', 'two'].map((own) => start('publisher', own, ...topics))
      await Promise.all(publishers.map((child) => once(child, 'message')))
      /** Has each publish ten messages to each topic, whether it can send them or not. */
      const publish = (): Promise<Published[]> =>
        Promise.all(publishers.map((child) => ask<Published>(child, 10)))
      // Who has heard nothing of a stream cannot know how much of it was lost: gaps without a number stand for that.
      await publish()
      await eventually(() => tally.last.size === 4, 'all streams have begun')
      const kills = 3
      const reconnected = (): number => tally.figures().gaps['reconnected'] ?? 0
      for (let kill = 1; kill <= kills; kill++) {
        // Each waits for a part of what comes anyhow: a slow machine may lose most of the first thousands.
        const { received } = tally
        await eventually(async () => {
          await publish()
          return tally.received > received + 300
        }, 'messages arrive')
        const gaps = reconnected()
        await server.kill()
        await eventually(() => !bus.stats().connected, 'the end of the server is noticed')
        for (let round = 0; round < 10; round++) await publish()
        await server.start()
        await eventually(async () => {
          await publish()
          return reconnected() > gaps
        }, 'the gap is told')
      }
      // Then all are connected to the server that stays.
      const before = new Map(tally.last)
      let said: Published[] = []
      await eventually(async () => {
        said = await publish()
        return (
          tally.last.size === 4 &&
          [...tally.last].every(
            ([stream, number]) => number > 2_500 && number > (before.get(stream) ?? Infinity),
          )
        )
      }, 'all streams arrive to their end')
      const expected = said.flatMap(({ published }) => topics.map(() => published - 1))
      await eventually(
        () => String([...tally.last.values()].toSorted()) === String(expected.toSorted()),
        'the last arrive',
      ).catch((error: Error) => {
        throw new Error(`${error.message}: ${JSON.stringify([said, tally.figures(), bus.stats()])}`)
      })
      const { received, wrong, lost, gaps } = tally.figures()
      const published = said.reduce((sum, each) => sum + each.published * topics.length, 0)
      t.diagnostic(
        `${name}: ${published} messages, ${kills} kills: delivered ${received}, lost ${published - received}, of which ${lost} in gaps with a number (${JSON.stringify(gaps)}); ${wrong} duplicates or out of order`,
      )
      assert.equal(wrong, 0)
      assert.equal(lost, published - received)
      assert.ok((gaps['reconnected'] ?? 0) >= kills, 'each kill is a gap for each topic')
      assert.equal(bus.stats().lost, lost)
    })

    test('a server that stops: publish neither waits nor throws, and what is dropped is a gap', async () => {
      const [bus, far] = [await join({ maxWaiting: 100_000 }), await join()]
      const tally = new Tally()
      far.subscribe('t', tally)
      await far.ready('t')
      bus.publish('t', 'x:0')
      await eventually(() => tally.received === 1, 'the first arrives')
      await server.stop()
      try {
        for (let each = 1; each <= 5_000; each++) bus.publish('t', `x:${each}`)
        assert.ok(bus.stats().waiting <= 100_000)
        assert.ok(bus.stats().unsent > 4_000)
      } finally {
        server.goOn()
      }
      await eventually(
        () => tally.received + tally.figures().lost === 5_001,
        'the rest arrives, or is in a gap',
      )
      // The receiver may have it all before the publisher knows, which would drop what is past maxWaiting.
      await eventually(() => bus.stats().waiting === 0, 'nothing waits to be sent')
      bus.publish('t', 'x:5001')
      await eventually(() => tally.last.get('x t') === 5_001, 'messages arrive again')
      const { wrong, lost } = tally.figures()
      assert.deepEqual([wrong, lost], [0, bus.stats().unsent])
    })

    test('a process that reads too slowly is cut off by the server, and is told of the gap', async (t) => {
      await server.end()
      server = await startServer(name)
      const isCut = await limitBuffers(server)
      const child = start('listener', 't')
      await once(child, 'message')
      const bus = await join()
      bus.publish('t', 'x:0')
      child.kill('SIGSTOP')
      // Sockets of this machine hold some megabytes by themselves.
      const filling = 'x'.repeat(65_536)
      for (let each = 1; each <= 400; each++) {
        bus.publish('t', `x:${each}:${filling}`)
        await eventually(() => bus.stats().waiting < 1_000_000, 'it is sent')
      }
      await isCut()
      child.kill('SIGCONT')
      let heard: Heard = await ask(child)
      let next = 401
      await eventually(async () => {
        if ((heard.gaps['reconnected'] ?? 0) > 0 && heard.received + heard.lost >= next - 1) return true
        bus.publish('t', `x:${next++}`)
        heard = await ask(child)
        return false
      }, 'the gap is told')
      t.diagnostic(`${name}: a slow process received ${heard.received} of 25 MB, ${heard.lost} in gaps`)
      assert.equal(heard.wrong, 0)
      assert.ok(heard.lost > 0)
      assert.equal(bus.stats().unsent, 0)
    })

    test('what others write to a channel is counted and dropped', async () => {
      const [bus, other, stranger] = [await join(), await join(), await join({ maxMessageSize: 64 })]
      const tally = new Tally()
      stranger.subscribe('t', tally)
      await stranger.ready('t')
      bus.publish('t', `x:0:${'x'.repeat(100)}`)
      other.publish('t', 'x:1')
      await eventually(() => tally.received === 1, 'the right one arrives')
      await eventually(() => stranger.stats().refused === 1, 'the wrong one is counted')
    })
  })
}

/** What every bus does. `make` gives two buses that hear each other, or one twice. */
function passes(make: () => Promise<readonly [Bus, Bus]>): void {
  test('texts and bytes arrive as they were, under any topic, once', async () => {
    const [bus, far] = await make()
    const data = ['a', '', 'ü€😀\0', Buffer.from([0, 0xff]), Buffer.alloc(0), 'x'.repeat(100_000)]
    const topics = ['t', 'a.b', '*', '>', 'with space', 'ü😀', '{tag}:x', 'x'.repeat(5_000), '__proto__', '']
    const heard = new Map(topics.map((topic): [string, (string | Buffer)[]] => [topic, []]))
    for (const topic of topics)
      far.subscribe(topic, { message: (to, each) => void heard.get(to)?.push(each) })
    await Promise.all(topics.map((topic) => far.ready(topic)))
    const sent = [...data, 'the last one']
    for (const topic of topics) for (const each of sent) bus.publish(topic, each)
    await eventually(() => [...heard.values()].every((list) => list.at(-1) === 'the last one'), 'all arrive')
    for (const [topic, list] of heard) assert.deepEqual(list, sent, topic.slice(0, 20))
  })

  test('one who publishes hears itself once, and not at all where it excepts itself', async () => {
    const [bus, far] = await make()
    const [own, other] = [new Tally(), new Tally()]
    bus.subscribe('t', own)
    far.subscribe('t', other)
    await Promise.all([bus.ready('t'), far.ready('t')])
    bus.publish('t', 'x:0')
    bus.publish('t', 'x:1', own)
    bus.publish('t', 'x:2')
    await eventually(() => own.last.get('x t') === 2 && other.last.get('x t') === 2, 'all arrive')
    // The server's answers to these would stand before it.
    far.publish('t', 'y:0')
    await eventually(() => own.last.get('y t') === 0, 'an answer arrives')
    assert.deepEqual([own.received, other.received], [3, 4])
  })

  test('messages of one publisher and topic keep their order', async () => {
    const [bus, far] = await make()
    const tally = new Tally()
    const topics = ['a', 'b', 'c']
    for (const topic of topics) far.subscribe(topic, tally)
    await Promise.all(topics.map((topic) => far.ready(topic)))
    for (let each = 0; each < 1_000; each++) {
      for (const [publisher, from] of [bus, far].entries()) {
        for (const topic of topics) from.publish(topic, `${publisher}:${each}`)
      }
    }
    await eventually(() => tally.received >= 6_000, 'all arrive')
    assert.deepEqual(tally.figures().wrong, 0)
    assert.deepEqual(tally.figures().gaps, {})
  })

  test('what is published once a topic is ready arrives; once it has ended, nothing does', async () => {
    const [bus, far] = await make()
    const tallies: Tally[] = []
    for (let each = 0; each < 50; each++) {
      const tally = new Tally()
      tallies.push(tally)
      const topic = `t${each}`
      const end = far.subscribe(topic, tally)
      await far.ready(topic)
      bus.publish(topic, `x:${each}`)
      await eventually(() => tally.received === 1, 'it arrives')
      end()
      bus.publish(topic, 'x:-1')
    }
    await eventually(() => far.stats().topics === 0, 'no topic is left')
    // This one arrives behind all that the server may still have sent.
    const last = new Tally()
    far.subscribe('last', last)
    await far.ready('last')
    bus.publish('last', 'x:0')
    await eventually(() => last.received === 1, 'the last one arrives')
    assert.ok(tallies.every(({ received }) => received === 1))
  })
}
