/** What a receiver is told of messages that it missed. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { eventually, stderrLines, testClock, turns } from '@volant/test-kit'
import { Ear, Hub, pair } from './hub.ts'

const texts = (ear: Ear): string[] => ear.heard.map(String)

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

  test('a process that only receives says that the server answers again, even if it was away for a moment', async (t) => {
    const clock = testClock(t)
    await stderrLines(async (lines) => {
      const { bus, wire } = new Hub().join({ report: undefined })
      bus.subscribe('t', new Ear())
      wire.down()
      wire.up()
      await turns()
      await clock.advance(999)
      assert.equal(lines.length, 1)
      await clock.advance(1)
      assert.match(lines[0] as string, /the server of the bus fails \(cut\)/)
      assert.equal(lines[1], 'volant: the server of the bus answers again')
      wire.down()
      wire.up()
      wire.down()
      await turns()
      await clock.advance(60_000)
      assert.match(lines.slice(2).join(), /^volant: [^,]*the server of the bus fails \(cut\)/)
      await bus.close()
    })
  })

  test('a server that refuses a topic answers again once it takes it', async (t) => {
    const clock = testClock(t)
    await stderrLines(async (lines) => {
      const { bus, wire } = new Hub().join({ report: undefined })
      let refusals = 2
      wire.onSubscribe = () => (refusals-- > 0 ? Promise.reject(new Error('loading')) : Promise.resolve())
      bus.subscribe('t', new Ear())
      for (const left of [1, 0]) {
        await turns()
        assert.equal(refusals, left)
        await clock.advance(999)
        assert.equal(refusals, left)
        await clock.advance(1)
      }
      await turns()
      assert.ok(lines.some((line) => line.includes('answers again')))
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
