/** What arrives from the server of a bus is as little trusted as any other input. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Random, turns } from '@volant/test-kit'
import { Ear, Hub, pair } from './hub.ts'

const texts = (ear: Ear): string[] => ear.heard.map(String)

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
    const random = new Random(1)
    for (let each = 0; each < 100_000; each++) {
      const copy = Buffer.from(
        bytes.subarray(0, random.below(2) === 0 ? bytes.length : random.below(bytes.length + 1)),
      )
      for (let change = random.below(4); change > 0 && copy.length > 0; change--)
        copy[random.below(copy.length)] = random.below(256)
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
    await turns()
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
      await turns()
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
