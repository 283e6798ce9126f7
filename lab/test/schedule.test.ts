import assert from 'node:assert/strict'
import { test } from 'node:test'
import { entryOf } from '../src/entry.ts'
import { duration, secondsOf, secondsOfAll } from '../src/progress.ts'
import { type Chosen, schedule } from '../src/schedule.ts'
import { scenarioOf } from '../src/scenario.ts'
import { combine } from '../src/choice.ts'
import { shortMethod } from './broken-entry.ts'

const json = scenarioOf('ramapi-json')
const [plain, pipelined] = json.variants as [(typeof json.variants)[0], (typeof json.variants)[0]]
const named = (...names: string[]) => names.map((name) => entryOf(name))

function labels(chosen: Chosen, rounds: number, seed = 1): string[] {
  const tasks = schedule([chosen], rounds, seed)
  return Array.from({ length: rounds }, (_, round) =>
    tasks
      .filter((task) => task.round === round)
      .map(({ label }) => label)
      .join(' '),
  )
}

test('two entries go A B, B A', () => {
  const chosen = { scenario: json, variants: [plain], entries: named('node', 'native'), twice: null }
  assert.deepEqual(labels(chosen, 4), ['node native', 'native node', 'node native', 'native node'])
})

test('one entry twice goes in turns too', () => {
  const [node] = named('node')
  const chosen = { scenario: json, variants: [plain], entries: [node!], twice: node! }
  assert.deepEqual(labels(chosen, 2), ['node node#2', 'node#2 node'])
})

test('more are shuffled anew in every round, the same way for the same seed', () => {
  const entries = named('node', 'native', 'uws', 'koa', 'hapi')
  const chosen = { scenario: json, variants: [plain], entries, twice: entries[1]! }
  const rounds = labels(chosen, 6)
  for (const round of rounds)
    assert.deepEqual(round.split(' ').toSorted(), ['hapi', 'koa', 'native', 'native#2', 'node', 'uws'])
  assert.ok(new Set(rounds).size > 3, rounds.join('; '))
  assert.deepEqual(labels(chosen, 6), rounds)
  assert.notDeepEqual(labels(chosen, 6, 2), rounds)
})

test('every first position is taken by everybody in the long run', () => {
  const entries = named('node', 'native', 'uws')
  const firsts = labels({ scenario: json, variants: [plain], entries, twice: null }, 300).map(
    (round) => round.split(' ')[0] as string,
  )
  for (const { name } of entries) {
    const count = firsts.filter((first) => first === name).length
    assert.ok(count > 70 && count < 130, `${name} ${count}`)
  }
})

test('variants go backwards every second round', () => {
  const chosen = { scenario: json, variants: [plain, pipelined], entries: named('node'), twice: null }
  assert.deepEqual(
    schedule([chosen], 2, 1).map(({ round, variant }) => `${round} ${variant.name}`),
    ['0 plain', '0 pipelined', '1 pipelined', '1 plain'],
  )
})

test('variants that stand in two choices, with other entries each, go backwards too', () => {
  const [one, two] = [plain, pipelined].map((variant) => ({
    scenario: json,
    variants: [variant],
    entries: named('node'),
    twice: null,
  }))
  assert.deepEqual(
    schedule([one!, two!], 3, 1).map(({ round, variant }) => `${round} ${variant.name}`),
    ['0 plain', '0 pipelined', '1 pipelined', '1 plain', '2 plain', '2 pipelined'],
  )
})

test('each scenario has the entries that serve it, and one that is measured twice', () => {
  const middleware = scenarioOf('middleware')
  const wanted = [json, middleware].map((scenario) => ({ scenario, variants: scenario.variants }))
  const combined = (names: string[], withNoise: boolean) =>
    combine(wanted, named(...names), withNoise).map(
      ({ scenario, entries, twice }) =>
        `${scenario.name}: ${entries.map(({ name }) => name).join(' ')}, ${twice?.name}`,
    )
  assert.deepEqual(combined(['node', 'native'], true), [
    'ramapi-json: node native, native',
    'middleware: native, undefined',
  ])
  assert.deepEqual(combined(['node', 'koa'], true)[0], 'ramapi-json: node koa, node')
  assert.deepEqual(combined(['node', 'koa', 'koa'], false)[0], 'ramapi-json: node koa, koa')
  assert.deepEqual(combined(['node', 'native'], false)[0], 'ramapi-json: node native, undefined')
})

test('what a run takes is told before', () => {
  const chosen = { scenario: json, variants: [plain], entries: named('node', 'native'), twice: null }
  const tasks = schedule([chosen], 2, 1)
  const [first] = tasks
  // Warm-up and window of 0.2 and 0.3 s, and what lies around them.
  const seconds = secondsOf(first!, shortMethod)
  assert.ok(seconds > 0.5 && seconds < 5, String(seconds))
  assert.ok(secondsOfAll(tasks, shortMethod) < 4 * seconds)
  const longer = secondsOf(first!, { ...shortMethod, warmup: 10, window: 20 })
  assert.ok(Math.abs(longer - seconds - 29.5) < 1e-9, String(longer))
})

test('durations as a person says them', () => {
  const cases: [number, string][] = [
    [0.1, '1 s'],
    [50.4, '50 s'],
    [89.4, '89 s'],
    [90, '2 min'],
    [38 * 60, '38 min'],
    [3_580, '1 h 0 min'],
    [3_900, '1 h 5 min'],
  ]
  for (const [seconds, text] of cases) assert.equal(duration(seconds), text)
})
