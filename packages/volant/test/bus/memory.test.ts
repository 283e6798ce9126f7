/** A bus within one process. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { turns } from '@volant/test-kit'
import { busOver, memoryBus, threadsBus } from 'volant/bus'
import { Ear } from './hub.ts'

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
    await turns()
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
    await turns()
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
    await turns()
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
    await turns()
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
    await turns()
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
