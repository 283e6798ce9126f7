/** Messages on their way to the server: their order, their limits, and what becomes of them at the end. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { eventually, testClock, turns } from '@volant/test-kit'
import { Ear, Hub, pair } from './hub.ts'

const texts = (ear: Ear): string[] => ear.heard.map(String)

describe('what waits to be sent', () => {
  test('waits for the connection, and goes out in its order', async (t) => {
    const clock = testClock(t)
    const { bus, wire, ear } = await pair()
    wire.canPublish = false
    for (const each of '123') bus.publish('t', each)
    assert.equal(bus.stats().waiting, 3 * (23 + 1 + 100))
    wire.canPublish = true
    // What is published now does not overtake.
    bus.publish('t', '4')
    await clock.advance(49)
    assert.deepEqual(ear.heard, [])
    await clock.advance(1)
    assert.deepEqual([texts(ear), ear.lost, bus.stats().waiting], [['1', '2', '3', '4'], [], 0])
  })

  test('past maxWaiting messages are dropped, and told of even if none follows', async (t) => {
    const clock = testClock(t)
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
    await clock.advance(49)
    assert.deepEqual([ear.heard.length, newcomer.gaps], [1, []])
    await clock.advance(1)
    await eventually(() => newcomer.gaps.length > 0, 'all are told')
    assert.deepEqual([ear.heard.length, ear.lost], [11, ['missing 2']])
    // Nobody knows how many there were before.
    assert.deepEqual([newcomer.heard, newcomer.lost], [[], ['missing null']])
    bus.publish('t', 'z')
    assert.deepEqual([ear.heard.at(-1), ear.gaps.length, reports.length], ['z', 1, 1])
  })

  test('after maxWait messages are dropped', async (t) => {
    const clock = testClock(t)
    // What waits is looked at every 50 ms.
    for (const [maxWait, dropped] of [
      [0, 50],
      [49, 50],
      [50, 100],
    ] as const) {
      const { bus, wire, ear } = await pair({ maxWait })
      bus.publish('t', '1')
      wire.canPublish = false
      bus.publish('t', '2')
      await clock.advance(dropped - 1)
      assert.equal(bus.stats().unsent, 0)
      await clock.advance(1)
      assert.deepEqual([bus.stats().unsent, bus.stats().waiting], [1, 0])
      wire.canPublish = true
      await clock.advance(50)
      assert.deepEqual([texts(ear), ear.lost], [['1'], ['missing 1']])
    }
  })

  test('what a server did not answer for is not sent again; those who have it are told of no gap', async (t) => {
    const clock = testClock(t)
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
    await clock.advance(100)
    assert.deepEqual([texts(ear), ear.lost], [['1', '2'], ['missing 2']])
  })

  test('a server that answers with errors is asked now and then alone', async (t) => {
    const clock = testClock(t)
    const hub = new Hub()
    const { bus, wire, reports } = hub.join()
    wire.onPublish = () => Promise.reject(new Error('READONLY'))
    for (let each = 0; each < 100; each++) bus.publish(`topic ${each}`, 'x')
    await eventually(() => bus.stats().unsent === 100, 'they are refused')
    for (const [ms, asked] of [
      [99, 100],
      [1, 101],
      [999, 101],
      [1, 102],
    ] as const) {
      await clock.advance(ms)
      assert.equal(wire.published.length, asked)
    }
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

  test('close waits for what is under way, and then nothing goes out or comes in', async (t) => {
    const clock = testClock(t)
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
    await clock.advance(50)
    await closed
    assert.ok(wire.isClosed)
    far.publish('t', 'x')
    await turns()
    assert.deepEqual([texts(ear), texts(own)], [['last', 'x'], ['last']])
    const end = bus.subscribe('t', own)
    await bus.ready('t')
    end()
    assert.equal(bus.stats().topics, 0)
  })

  test('close does not wait for a server that is away for longer than a second', async (t) => {
    const clock = testClock(t)
    const hub = new Hub()
    const { bus, wire } = hub.join()
    wire.canPublish = false
    bus.publish('t', 'x')
    let isClosed = false
    const closed = bus.close().then(() => (isClosed = true))
    await clock.advance(999)
    await turns()
    assert.equal(isClosed, false)
    await clock.advance(1)
    await closed
    assert.deepEqual([bus.stats().unsent, bus.stats().waiting], [1, 0])
  })
})
