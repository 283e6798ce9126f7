import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { eventually, stderrLines } from '@volant/test-kit'
import { busOver, memoryBus, threadsBus } from 'volant/bus'
import { Ear, Hub, pair } from './bus-hub.ts'

const texts = (ear: Ear): string[] => ear.heard.map(String)

describe('a bus in one process', () => {
  test('passes texts and bytes to all receivers of a topic but the one that is excepted', async () => {
    const bus = memoryBus()
    const [one, other, elsewhere] = [new Ear(), new Ear(), new Ear()]
    bus.subscribe('news', one)
    bus.subscribe('news', other)
    bus.subscribe('olds', elsewhere)
    bus.publish('news', 'a')
    bus.publish('news', new Uint8Array([1, 2]), one)
    await bus.ready('news')
    await sleep(0)
    assert.deepEqual(one.heard, ['a'])
    assert.deepEqual(other.heard, ['a', Buffer.from([1, 2])])
    assert.deepEqual(elsewhere.heard, [])
    assert.deepEqual(bus.stats(), {
      connected: true,
      topics: 2,
      published: 2,
      received: 0,
      unsent: 0,
      gaps: 0,
      lost: 0,
      refused: 0,
      waiting: 0,
    })
  })

  test('gives every receiver bytes of its own, as they were when they were published', async () => {
    const bus = memoryBus()
    const [one, other] = [new Ear(), new Ear()]
    bus.subscribe('t', one)
    bus.subscribe('t', other)
    const bytes = new Uint8Array([1])
    bus.publish('t', bytes)
    bytes[0] = 9
    await sleep(0)
    ;(one.heard[0] as Buffer)[0] = 5
    assert.deepEqual(other.heard, [Buffer.from([1])])
  })

  test('keeps the order where a receiver publishes in turn', async () => {
    const bus = memoryBus()
    const ear = new Ear()
    bus.subscribe('t', { message: (_, data) => void (data === 'first' && bus.publish('t', 'answer')) })
    bus.subscribe('t', ear)
    bus.publish('t', 'first')
    bus.publish('t', 'second')
    await sleep(0)
    assert.deepEqual(ear.heard, ['first', 'second', 'answer'])
  })

  test('a receiver that has ended gets nothing more; ending it twice ends no other', async () => {
    const bus = memoryBus()
    const [one, other] = [new Ear(), new Ear()]
    const end = bus.subscribe('t', one)
    bus.subscribe('t', other)
    end()
    end()
    bus.publish('t', 'a')
    await sleep(0)
    assert.deepEqual([one.heard, other.heard], [[], ['a']])
  })

  test('what has ended a subscription ends no later one of the same receiver', async () => {
    const bus = memoryBus()
    const ear = new Ear()
    bus.subscribe('t', new Ear())
    const end = bus.subscribe('t', ear)
    end()
    bus.subscribe('t', ear)
    end()
    bus.publish('t', 'a')
    await sleep(0)
    assert.deepEqual(ear.heard, ['a'])
  })

  test('refuses what is no topic, no message, no receiver, no option', () => {
    const bus = memoryBus()
    assert.throws(() => bus.publish(5 as never, 'a'), /publish\(\) takes a topic, a string, not number/)
    assert.throws(() => bus.publish('t', { a: 1 } as never), /takes a string or a Uint8Array/)
    assert.throws(() => bus.subscribe('t', (() => {}) as never), { code: 'E_BAD_OPTION' })
    assert.throws(() => busOver({} as never), /takes a wire, which has open\(\)/)
    for (const options of [{ nameSpace: 'a b' }, { maxWaiting: 1 }, { maxTopics: 1.5 }, { maxWat: 1 }]) {
      assert.throws(() => threadsBus(options), { code: 'E_BAD_OPTION' }, JSON.stringify(options))
    }
  })
})

describe('a bus between processes', () => {
  test('passes texts and bytes on, and an empty message of either kind', async () => {
    const { bus, far, ear } = await pair()
    for (const data of ['a', 'ü€😀', '', new Uint8Array([0xff, 0]), new Uint8Array()]) bus.publish('t', data)
    assert.deepEqual(ear.heard, ['a', 'ü€😀', '', Buffer.from([0xff, 0]), Buffer.alloc(0)])
    assert.deepEqual([bus.stats().published, far.stats().received], [5, 5])
  })

  test('drops its own echo, and reaches its own receivers without the wire', async () => {
    const hub = new Hub()
    const { bus } = hub.join()
    const ear = new Ear()
    bus.subscribe('t', ear)
    await bus.ready('t')
    bus.publish('t', 'a')
    await sleep(0)
    assert.deepEqual([texts(ear), bus.stats().received], [['a'], 0])
  })

  test('takes any text for a topic', async () => {
    const hub = new Hub()
    const [{ bus, wire }, { bus: far }] = [hub.join(), hub.join()]
    const topics = [
      '',
      ' ',
      '__proto__',
      'constructor',
      'a.b.*.>',
      'ü😀',
      '\0\r\n',
      'x'.repeat(200),
      'x'.repeat(201),
    ]
    topics.push(`${'x'.repeat(100_000)}1`, `${'x'.repeat(100_000)}2`, '\ud800', '\ud801', ':t:', '%2E')
    const ears = topics.map((topic) => {
      const ear = new Ear()
      far.subscribe(topic, ear)
      return ear
    })
    await Promise.all(topics.map((topic) => far.ready(topic)))
    for (const topic of topics) bus.publish(topic, topic)
    for (const [at, ear] of ears.entries())
      assert.deepEqual([ear.heard.length, ear.topics], [1, [topics[at]]])
    assert.equal(new Set(wire.published.map(({ channel }) => channel)).size, topics.length)
    assert.ok(wire.published.every(({ channel }) => Buffer.byteLength(channel) < 1_024))
  })

  test('is subscribed as long as a topic has a receiver', async () => {
    const hub = new Hub()
    const { bus, wire } = hub.join()
    const ends = [bus.subscribe('t', new Ear()), bus.subscribe('t', new Ear())]
    await bus.ready('t')
    ends[0]?.()
    assert.deepEqual(wire.asked, ['+ volant-bus:t:t'])
    ends[1]?.()
    await sleep(0)
    assert.deepEqual(wire.asked, ['+ volant-bus:t:t', '- volant-bus:t:t'])
    assert.equal(bus.stats().topics, 0)
    bus.publish('t', 'a')
    assert.equal(bus.stats().received, 0)
  })

  test('a topic that comes and goes while the server answers slowly ends as it is wanted', async () => {
    for (const wanted of [true, false]) {
      const hub = new Hub()
      const { bus, wire } = hub.join()
      let answer = (): void => {}
      wire.onSubscribe = () => new Promise((resolve) => (answer = () => resolve(null)))
      let end = bus.subscribe('t', new Ear())
      for (let each = 0; each < 5; each++) {
        end()
        end = bus.subscribe('t', new Ear())
      }
      if (!wanted) end()
      assert.equal(wire.asked.length, 1, 'one question at a time')
      await eventually(() => {
        answer()
        return wire.channels.size === (wanted ? 1 : 0) && wire.asked.length === (wanted ? 1 : 2)
      }, 'the server knows what is wanted')
    }
  })

  test('a subscription that is refused is asked for again, and what was missed is a gap', async () => {
    const hub = new Hub()
    const { bus, wire, reports } = hub.join()
    wire.onSubscribe = () => Promise.reject(new Error('NOPERM'))
    const ear = new Ear()
    bus.subscribe('t', ear)
    await eventually(() => reports.length > 0, 'it is reported')
    assert.match(reports[0] as string, /the server of the bus fails \(NOPERM\).*This is said once/)
    wire.onSubscribe = () => Promise.resolve()
    await eventually(() => ear.gaps.length > 0, 'it is subscribed')
    assert.deepEqual(ear.lost, ['reconnected null'])
  })
})

describe('gaps', () => {
  test('a message that is lost is a gap with its publisher and number, and those after it arrive', async () => {
    const { bus, wire, far, ear } = await pair()
    const { onPublish } = wire
    bus.publish('t', '1')
    wire.onPublish = () => Promise.resolve()
    bus.publish('t', '2')
    bus.publish('t', '3')
    bus.publish('other', '')
    wire.onPublish = onPublish
    bus.publish('t', '4')
    assert.deepEqual([texts(ear), ear.lost], [['1', '4'], ['missing 2']])
    assert.match(ear.gaps[0]?.publisher as string, /^[0-9a-f]{16}$/)
    assert.equal(ear.gaps[0]?.topic, 't')
    assert.deepEqual([far.stats().gaps, far.stats().lost], [1, 2])
  })

  test('one who joins late, or again, or hears a publisher that has started anew, has no gap', async () => {
    const hub = new Hub()
    const [{ bus }, { bus: far }] = [hub.join(), hub.join()]
    const ear = new Ear()
    bus.publish('t', '1')
    const end = far.subscribe('t', ear)
    await far.ready('t')
    bus.publish('t', '2')
    end()
    bus.publish('t', '3')
    far.subscribe('t', ear)
    await eventually(() => far.stats().topics === 1, 'it is there again')
    await far.ready('t')
    bus.publish('t', '4')
    const { bus: again } = hub.join()
    again.publish('t', '5')
    assert.deepEqual([texts(ear), ear.lost], [['2', '4', '5'], []])
  })

  test('a message that comes twice, or late, is dropped', async () => {
    const { hub, bus, wire, far, ear } = await pair()
    for (const each of '1234') bus.publish('t', each)
    for (const { channel, bytes } of wire.published.slice()) hub.pass(channel, bytes)
    assert.deepEqual([texts(ear), ear.lost], [['1', '2', '3', '4'], []])
    assert.equal(far.stats().refused, 4)
  })

  test('publishers and topics are counted apart', async () => {
    const hub = new Hub()
    const [{ bus }, { bus: other }, { bus: far }] = [hub.join(), hub.join(), hub.join()]
    const ear = new Ear()
    for (const topic of ['a', 'b']) far.subscribe(topic, ear)
    await Promise.all([far.ready('a'), far.ready('b')])
    for (const from of [bus, other, bus]) for (const topic of ['a', 'b', 'b']) from.publish(topic, 'x')
    assert.deepEqual([ear.heard.length, ear.lost], [9, []])
  })

  test('a lost connection is a gap of unknown size for every topic, once messages arrive again', async () => {
    const hub = new Hub()
    const [{ bus }, { bus: far, wire, reports }] = [hub.join(), hub.join()]
    const [ear, later] = [new Ear(), new Ear()]
    for (const topic of ['a', 'b']) far.subscribe(topic, ear)
    await Promise.all([far.ready('a'), far.ready('b')])
    bus.publish('a', '1')
    wire.down()
    assert.deepEqual([ear.gaps, far.stats().connected], [[], false])
    bus.publish('a', '2')
    far.subscribe('c', later)
    bus.publish('c', 'lost')
    wire.up()
    await eventually(() => ear.gaps.length === 2 && later.gaps.length === 1, 'the gaps are told')
    assert.deepEqual(ear.lost, ['reconnected null', 'reconnected null'])
    assert.deepEqual(
      ear.gaps.map(({ topic, publisher }) => [topic, publisher]),
      [
        ['a', null],
        ['b', null],
      ],
    )
    assert.deepEqual(later.lost, ['reconnected null'])
    bus.publish('a', '3')
    assert.deepEqual(texts(ear), ['1', '3'])
    assert.deepEqual(ear.lost.slice(2), ['missing 1'])
    assert.equal(reports.length, 1)
  })

  test('while the server is away, ready does not wait, and a gap follows', async () => {
    const hub = new Hub()
    const { bus, wire } = hub.join()
    wire.opensUp = false
    const ear = new Ear()
    bus.subscribe('t', ear)
    const waiting = bus.ready('t')
    wire.down()
    await waiting
    await bus.ready('t')
    const late = new Ear()
    bus.subscribe('late', late)
    await bus.ready('late')
    assert.deepEqual([ear.gaps, late.gaps], [[], []])
    wire.up()
    await eventually(() => ear.gaps.length === 1 && late.gaps.length === 1, 'a gap follows')
  })

  test('a process that only receives says that the server answers again, even if it was away for a moment', async () => {
    await stderrLines(async (lines) => {
      const { bus, wire } = new Hub().join({ report: undefined })
      bus.subscribe('t', new Ear())
      wire.down()
      wire.up()
      await eventually(() => lines.length === 2, 'two lines')
      assert.match(lines[0] as string, /the server of the bus fails \(cut\)/)
      assert.equal(lines[1], 'volant: the server of the bus answers again')
      wire.down()
      wire.up()
      wire.down()
      await sleep(1_200)
      assert.match(lines.slice(2).join(), /^volant: [^,]*the server of the bus fails \(cut\)/)
      await bus.close()
    })
  })

  test('a server that refuses a topic answers again once it takes it', async () => {
    await stderrLines(async (lines) => {
      const { bus, wire } = new Hub().join({ report: undefined })
      let refusals = 2
      wire.onSubscribe = () => (refusals-- > 0 ? Promise.reject(new Error('loading')) : Promise.resolve())
      bus.subscribe('t', new Ear())
      await eventually(() => lines.some((line) => line.includes('answers again')), 'it answers again')
      assert.deepEqual([refusals, wire.channels.size, lines.length], [-1, 1, 2])
      await bus.close()
    })
  })

  test('a topic that was left while the connection was away is left at the server too', async () => {
    const hub = new Hub()
    const { bus, wire } = hub.join()
    const end = bus.subscribe('t', new Ear())
    await bus.ready('t')
    wire.down()
    // A client that subscribes anew by itself.
    wire.channels.add('volant-bus:t:t')
    end()
    wire.up()
    await eventually(() => wire.channels.size === 0, 'the server does not send it any more')
  })

  test('a topic past maxTopics begins another count, which is a gap of unknown size', async () => {
    const { bus, ear } = await pair({ maxTopics: 2 })
    bus.publish('t', '1')
    for (const topic of ['a', 'b', 'c', 'd']) bus.publish(topic, 'x')
    bus.publish('t', '2')
    bus.publish('t', '3')
    assert.deepEqual([texts(ear), ear.lost], [['1', '2', '3'], ['missing null']])
  })
})

describe('what waits to be sent', () => {
  test('waits for the connection, and goes out in its order', async () => {
    const { bus, wire, ear } = await pair()
    wire.canPublish = false
    for (const each of '123') bus.publish('t', each)
    assert.equal(bus.stats().waiting, 3 * (23 + 1 + 100))
    wire.canPublish = true
    // What is published now does not overtake.
    bus.publish('t', '4')
    await eventually(() => ear.heard.length === 4, 'all arrive')
    assert.deepEqual([texts(ear), ear.lost, bus.stats().waiting], [['1', '2', '3', '4'], [], 0])
  })

  test('past maxWaiting messages are dropped, and told of even if none follows', async () => {
    const hub = new Hub()
    const [{ bus, wire, reports }, { bus: far }] = [hub.join({ maxWaiting: 1_240 }), hub.join()]
    const [ear, newcomer] = [new Ear(), new Ear()]
    far.subscribe('t', ear)
    far.subscribe('other', newcomer)
    await Promise.all([far.ready('t'), far.ready('other')])
    bus.publish('t', '0')
    await eventually(() => bus.stats().waiting === 0, 'it is sent')
    wire.canPublish = false
    for (let each = 1; each <= 10; each++) bus.publish('t', 'x')
    assert.equal(bus.stats().unsent, 0)
    bus.publish('t', 'y')
    bus.publish('t', 'y')
    bus.publish('other', 'y')
    assert.deepEqual([bus.stats().unsent, bus.stats().waiting], [3, 1_240])
    assert.match(reports.join(), /fails \(1240 bytes wait for it already, and maxWaiting is 1240\)/)
    wire.canPublish = true
    await eventually(() => newcomer.gaps.length > 0, 'all are told')
    assert.deepEqual([ear.heard.length, ear.lost], [11, ['missing 2']])
    // Nobody knows how many there were before.
    assert.deepEqual([newcomer.heard, newcomer.lost], [[], ['missing null']])
    bus.publish('t', 'z')
    assert.deepEqual([ear.heard.at(-1), ear.gaps.length, reports.length], ['z', 1, 1])
  })

  test('after maxWait messages are dropped', async () => {
    const { bus, wire, ear } = await pair({ maxWait: 0 })
    bus.publish('t', '1')
    wire.canPublish = false
    bus.publish('t', '2')
    await eventually(() => bus.stats().unsent === 1, 'it is dropped')
    assert.equal(bus.stats().waiting, 0)
    wire.canPublish = true
    await eventually(() => ear.gaps.length > 0, 'it is told')
    assert.deepEqual([texts(ear), ear.lost], [['1'], ['missing 1']])
  })

  test('what a server did not answer for is not sent again; those who have it are told of no gap', async () => {
    const { hub, bus, wire, ear } = await pair()
    const { onPublish } = wire
    bus.publish('t', '1')
    wire.onPublish = (channel, bytes) => {
      hub.pass(channel, bytes)
      return Promise.reject(new Error('reset'))
    }
    bus.publish('t', '2')
    wire.onPublish = () => Promise.reject(new Error('reset'))
    bus.publish('t', '3')
    wire.onPublish = () => {
      throw new Error('too large')
    }
    bus.publish('t', '4')
    await eventually(() => bus.stats().unsent === 3, 'they count as unsent')
    wire.onPublish = onPublish
    await eventually(() => ear.gaps.length > 0, 'what is lost is told')
    assert.deepEqual([texts(ear), ear.lost], [['1', '2'], ['missing 2']])
  })

  test('a server that answers with errors is asked now and then alone', async () => {
    const hub = new Hub()
    const { bus, wire, reports } = hub.join()
    wire.onPublish = () => Promise.reject(new Error('READONLY'))
    for (let each = 0; each < 100; each++) bus.publish(`topic ${each}`, 'x')
    await eventually(() => bus.stats().unsent === 100, 'they are refused')
    await sleep(300)
    assert.ok(wire.published.length <= 110, `${wire.published.length} times`)
    assert.equal(reports.length, 1)
    await bus.close()
  })

  test('a message of maxMessageSize passes, a longer one does not', async () => {
    const hub = new Hub()
    const [{ bus, reports }, { bus: far }, { bus: small, reports: refused }] = [
      hub.join({ maxMessageSize: 10 }),
      hub.join(),
      hub.join({ maxMessageSize: 9 }),
    ]
    const [ear, other] = [new Ear(), new Ear()]
    far.subscribe('t', ear)
    small.subscribe('t', other)
    await Promise.all([far.ready('t'), small.ready('t')])
    bus.publish('t', 'x'.repeat(9))
    bus.publish('t', 'ü'.repeat(5))
    bus.publish('t', 'ü'.repeat(5) + 'x')
    bus.publish('t', new Uint8Array(11))
    bus.publish('t', 'end')
    assert.deepEqual([texts(ear), ear.lost], [['x'.repeat(9), 'ü'.repeat(5), 'end'], ['missing 2']])
    assert.deepEqual(
      [texts(other), other.lost, small.stats().refused],
      [['x'.repeat(9), 'end'], ['missing 3'], 1],
    )
    assert.equal(bus.stats().unsent, 2)
    assert.match(reports.join(), /a message of 11 bytes was not sent.*maxMessageSize of the bus is 10/)
    assert.match(refused.join(), /no message of a bus with this version and this maxMessageSize/)
  })

  test('close waits for what is under way, and then nothing goes out or comes in', async () => {
    const hub = new Hub()
    const [{ bus, wire }, { bus: far }] = [hub.join(), hub.join()]
    const [ear, own] = [new Ear(), new Ear()]
    far.subscribe('t', ear)
    bus.subscribe('t', own)
    await Promise.all([far.ready('t'), bus.ready('t')])
    wire.canPublish = false
    bus.publish('t', 'last')
    const closed = bus.close()
    assert.equal(bus.close(), closed)
    bus.publish('t', 'later')
    wire.canPublish = true
    await closed
    assert.ok(wire.isClosed)
    far.publish('t', 'x')
    await sleep(0)
    assert.deepEqual([texts(ear), texts(own)], [['last', 'x'], ['last']])
    const end = bus.subscribe('t', own)
    await bus.ready('t')
    end()
    assert.equal(bus.stats().topics, 0)
  })

  test('close does not wait for a server that is away for longer than a second', async () => {
    const hub = new Hub()
    const { bus, wire } = hub.join()
    wire.canPublish = false
    bus.publish('t', 'x')
    await bus.close()
    assert.deepEqual([bus.stats().unsent, bus.stats().waiting], [1, 0])
  })
})

describe('what arrives from a server is input', () => {
  test('what is no message of this version is counted, reported once, and never delivered', async () => {
    const { hub, bus, wire, far, farReports: reports, ear } = await pair()
    bus.publish('t', 'ok')
    const { channel, bytes } = wire.published[0] as (typeof wire.published)[number]
    const changed = (at: number, ...values: number[]): Buffer => {
      const copy = Buffer.from(bytes)
      copy.set(values, at)
      return copy
    }
    const wrong = [
      ...Array.from({ length: 23 }, (_, length) => bytes.subarray(0, length)),
      Buffer.from('{"__proto__":{"polluted":true}}'),
      changed(0, 0),
      changed(1, 2),
      changed(2, 3),
      // A mark with data, a text that is not UTF-8, a count that begins at 0, a number before its beginning.
      changed(2, 2),
      changed(23, 0xff),
      changed(11, 0, 0, 0, 0, 0, 0),
      changed(11, 0, 0, 0, 0, 9, 0),
    ]
    for (const each of wrong) hub.pass(channel, each)
    assert.deepEqual([texts(ear), ear.lost], [['ok'], []])
    assert.equal(far.stats().refused, wrong.length)
    assert.equal(reports.length, 1)
    assert.match(reports[0] as string, /something arrived for the topic "t" that is no message of a bus/)
  })

  test('100,000 random and mutated messages neither throw nor stop it', async () => {
    const { hub, bus, wire, ear } = await pair()
    bus.publish('t', 'seed message')
    const { channel, bytes } = wire.published[0] as (typeof wire.published)[number]
    let seed = 1
    const random = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
      return Math.floor((seed / 2_147_483_648) * below)
    }
    for (let each = 0; each < 100_000; each++) {
      const copy = Buffer.from(bytes.subarray(0, random(2) === 0 ? bytes.length : random(bytes.length + 1)))
      for (let change = random(4); change > 0 && copy.length > 0; change--)
        copy[random(copy.length)] = random(256)
      hub.pass(channel, copy)
    }
    const { bus: sane } = hub.join()
    sane.publish('t', 'still there')
    assert.equal(ear.heard.at(-1), 'still there')
  })

  test('publishers that are made up do not fill the memory', async () => {
    const { hub, bus, wire, ear } = await pair()
    bus.publish('t', '1')
    const { channel, bytes } = wire.published[0] as (typeof wire.published)[number]
    for (let each = 0; each < 3_000; each++) {
      const copy = Buffer.from(bytes)
      copy.writeUInt32BE(each, 3)
      hub.pass(channel, copy)
      // One that goes on is not forgotten for them.
      if (each === 2_000) {
        wire.onPublish = () => Promise.resolve()
        bus.publish('t', 'lost')
      }
      if (each % 500 === 0 && each !== 2_000) {
        wire.onPublish = (to, message) => (hub.pass(to, message), Promise.resolve())
        bus.publish('t', 'kept')
      }
    }
    assert.deepEqual(ear.lost, ['missing 1'])
  })

  test('what receivers throw, or reject with, is reported, and the others get their message', async () => {
    const hub = new Hub()
    const [{ bus }, { bus: far, reports }] = [hub.join(), hub.join()]
    const ear = new Ear()
    far.subscribe('t', {
      message: () => {
        throw new Error('thrown')
      },
    })
    far.subscribe('t', { message: (async () => Promise.reject(new Error('rejected'))) as () => void })
    far.subscribe('t', ear)
    await far.ready('t')
    bus.publish('t', 'a')
    await sleep(0)
    assert.deepEqual([texts(ear), reports], [['a'], ['Error: thrown', 'Error: rejected']])
  })

  test('a report that throws stops neither what is published here nor what arrives', async () => {
    const hub = new Hub()
    const report = (): void => {
      throw new Error('the report is broken')
    }
    const [{ bus }, { bus: far }] = [hub.join({ report }), hub.join({ report })]
    const [here, there] = [new Ear(), new Ear()]
    for (const [each, ear] of [
      [bus, here],
      [far, there],
    ] as const) {
      each.subscribe('t', {
        message: () => {
          throw new Error('thrown')
        },
      })
      each.subscribe('t', ear)
      await each.ready('t')
    }
    for (const text of ['a', 'b']) {
      bus.publish('t', text)
      await sleep(0)
    }
    assert.deepEqual(
      [texts(here), texts(there)],
      [
        ['a', 'b'],
        ['a', 'b'],
      ],
    )
  })
})
