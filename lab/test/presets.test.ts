import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readEntries } from '../src/entry.ts'
import { partsOf, presetOf } from '../src/presets.ts'
import { secondsOfAll } from '../src/progress.ts'
import { schedule } from '../src/schedule.ts'
import { shortMethod } from './broken-entry.ts'

test('the preset realtime has every rival in its first points, and takes 20 minutes at most', () => {
  const preset = presetOf('realtime')
  const chosen = partsOf(preset, readEntries())
  for (const [scenario, variant] of [
    ['ws-echo', '128 B'],
    ['ws-publish', '10000 subscribers'],
    ['ws-idle', 'default'],
  ]) {
    const part = chosen.find(
      (one) => one.scenario.name === scenario && one.variants.some(({ name }) => name === variant),
    )
    assert.deepEqual(
      part?.entries.map(({ name }) => name),
      ['native', 'node-http', 'uws', 'bun', 'ws', 'deno'],
      String(scenario),
    )
  }
  const { rounds, warmup, window } = preset
  const method = { ...shortMethod, quick: false, warmup, window }
  const seconds = secondsOfAll(schedule(chosen, rounds, 1), method)
  assert.ok(seconds > 60 && seconds <= 20 * 60, `${seconds} s`)
})

test('the preset tls has every server that speaks HTTP/2 in its first points, and takes 20 minutes at most', () => {
  const preset = presetOf('tls')
  const chosen = partsOf(preset, readEntries())
  for (const variant of ['h2c, 100 streams', 'TLS, 100 streams']) {
    const part = chosen.find(({ variants }) => variants.some(({ name }) => name === variant))
    const able = readEntries().filter(({ programs }) => programs.includes('streams'))
    assert.deepEqual(
      part?.entries.map(({ name }) => name).toSorted(),
      able.map(({ name }) => name).toSorted(),
      variant,
    )
  }
  const { rounds, warmup, window } = preset
  const method = { ...shortMethod, quick: false, warmup, window }
  const seconds = secondsOfAll(schedule(chosen, rounds, 1), method)
  assert.ok(seconds > 60 && seconds <= 20 * 60, `${seconds} s`)
})
