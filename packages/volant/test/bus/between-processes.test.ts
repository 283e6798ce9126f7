/** What a bus passes on over a wire, and what it is subscribed to there. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { eventually, testClock, turns } from '@volant/test-kit'
import { Ear, Hub, pair } from './hub.ts'

const texts = (ear: Ear): string[] => ear.heard.map(String)

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
    await turns()
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
    await turns()
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

  test('a subscription that is refused is asked for again, and what was missed is a gap', async (t) => {
    const clock = testClock(t)
    const hub = new Hub()
    const { bus, wire, reports } = hub.join()
    wire.onSubscribe = () => Promise.reject(new Error('NOPERM'))
    const ear = new Ear()
    bus.subscribe('t', ear)
    await eventually(() => reports.length > 0, 'it is reported')
    assert.match(reports[0] as string, /the server of the bus fails \(NOPERM\).*This is said once/)
    wire.onSubscribe = () => Promise.resolve()
    await clock.advance(999)
    assert.deepEqual(ear.lost, [])
    await clock.advance(1)
    await turns()
    assert.deepEqual(ear.lost, ['reconnected null'])
  })
})
