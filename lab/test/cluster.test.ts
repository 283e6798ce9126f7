import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judgeBalance } from '../src/cluster/balance.ts'
import { type BrokenFindings, judgeBroken } from '../src/cluster/broken.ts'
import { type ConnectionFindings, judgeConnections } from '../src/cluster/connections.ts'
import { type KillFindings, judgeKill, sortLost, untilNew } from '../src/cluster/kill.ts'
import { type Gone, type Passed, judgeLimiter } from '../src/cluster/limiter.ts'
import { type Lost, comparePosts } from '../src/cluster/load.ts'
import { type Leftovers, judgeOrphans } from '../src/cluster/orphans.ts'
import { type RollFindings, judgeRoll } from '../src/cluster/roll.ts'
import { type ServiceFindings, faultsOfTold, judgeService } from '../src/cluster/service.ts'
import { judgeStall } from '../src/cluster/stall.ts'
import { judgeRates, judgeWorkers } from '../src/cluster/workers.ts'

const lost = (changes: Partial<Lost> = {}): Lost => ({
  method: 'GET',
  fault: 'ECONNRESET without a reply',
  port: 40_000,
  worker: '7',
  sent: 990,
  failed: 1_001,
  ...changes,
})

const method = { workers: 4, rolls: 2, requests: 100, clients: 8, seed: 1, limit: 60 }
const rolled: RollFindings = {
  sent: 100,
  lost: [],
  rolls: [900, 1_000],
  seen: 12,
  end: { code: 0 },
  twice: 0,
  unrun: 0,
}

test('rolls without a failed request are met', () => {
  assert.deepEqual(judgeRoll(rolled, method), [])
})

const rollFaults: [Partial<RollFindings>, RegExp][] = [
  [{ lost: [lost()] }, /^1 requests failed$/],
  [{ twice: 1 }, /^1 POST were run twice$/],
  [{ unrun: 2 }, /^2 POST were answered, and no worker ran them$/],
  [{ sent: 99 }, /^only 2 of 2 rolls and 99 of 100 requests$/],
  [{ rolls: [900] }, /^only 1 of 2 rolls/],
  [{ seen: 5 }, /^only 5 of 12 workers ever answered$/],
  [{ end: null }, /^it did not end after SIGTERM$/],
  [{ end: { code: 1 } }, /^it ended with 1 after SIGTERM$/],
]
for (const [change, fault] of rollFaults) {
  test(`a roll is missed: ${fault.source}`, () => {
    const faults = judgeRoll({ ...rolled, ...change }, method)
    assert.equal(faults.length, 1)
    assert.match(faults[0] as string, fault)
  })
}

test('POSTs that ran twice and POSTs that nobody ran are told apart', () => {
  assert.deepEqual(comparePosts([1, 2, 3], [1, 2, 2, 4]), { twice: 1, unrun: 1 })
  // One that failed may have run: nobody knows, and nobody may send it again.
  assert.deepEqual(comparePosts([], [1]), { twice: 0, unrun: 0 })
})

const killing = { at: 1_000, worker: '7', ports: new Set([40_000]), until: 400 }
const killed: KillFindings = { sent: 100, lost: [], killings: [killing], twice: 0, unrun: 0 }

test('what was in flight on the worker that was killed may fail, as a reset or an end', () => {
  const right = [
    lost(),
    lost({ fault: 'the connection ended without a reply', worker: null }),
    lost({ fault: 'EPIPE without a first reply', port: 41_000 }),
    // The client had not seen the end of the connection yet.
    lost({ sent: 1_000.5 }),
  ]
  assert.deepEqual(sortLost({ ...killed, lost: right }).beyond, [])
  assert.deepEqual(judgeKill({ ...killed, lost: right }), [])
})

test('whatever else fails is beyond it', () => {
  const wrong = [
    lost({ worker: '8', port: 41_000 }),
    lost({ worker: null, port: 41_000 }),
    lost({ fault: 'status 503' }),
    lost({ fault: 'no reply in 20 s', failed: 21_000 }),
    lost({ method: 'connect', fault: 'refused', port: null, worker: null }),
    lost({ failed: 999 }),
    lost({ sent: 6_001, failed: 6_002 }),
  ]
  assert.equal(sortLost({ ...killed, lost: wrong }).beyond.length, wrong.length)
  assert.match(judgeKill({ ...killed, lost: wrong }).join(), /^7 requests failed that were not in flight/)
})

test('a new worker is to answer within a second', () => {
  const late = (until: number | null) => judgeKill({ ...killed, killings: [{ ...killing, until }, killing] })
  assert.deepEqual(late(999), [])
  for (const until of [1_000, null, Number.NaN])
    assert.match(late(until).join(), /^after 1 of 2 kills no new worker served within 1 s$/)
})

test('workers that were not there at first replace those that were killed, in order', () => {
  const seen = new Map([
    ['1', 10],
    ['3', 1_300],
    ['2', 1_500],
    ['4', 2_250],
  ])
  const first = new Set(['1', '2'])
  assert.deepEqual(untilNew([{ at: 1_000 }, { at: 2_000 }, { at: 3_000 }], seen, first), [300, 250, null])
})

test('a stopped worker is to be avoided after 3 s, and gone and replaced after 31 s', () => {
  const stalled = { avoided: 3_000, stuck: 1, probes: 100, gone: 31_000, replaced: 31_000 }
  assert.deepEqual(judgeStall([stalled]), [])
  assert.match(judgeStall([{ ...stalled, avoided: 3_001 }]).join(), /^the stopped worker was not avoided/)
  assert.match(
    judgeStall([stalled, { ...stalled, gone: 31_001 }]).join(),
    /^it was not gone within 31 s in 1 of 2$/,
  )
  assert.match(judgeStall([{ ...stalled, replaced: null }]).join(), /^it was not replaced/)
})

test('nothing may be left of a cluster whose first process is killed', () => {
  const clean: Leftovers = {
    state: 'rolling',
    wasKilled: true,
    running: 0,
    zombies: 0,
    holdsPort: false,
    until: 20,
  }
  assert.deepEqual(judgeOrphans([clean]), [])
  assert.deepEqual(judgeOrphans([clean, { ...clean, running: 2, zombies: 1, holdsPort: true }]), [
    '2 processes outlived one that was rolling',
    '1 zombies of one that was rolling',
    'the port of one that was rolling is not free',
  ])
})

test('a version that throws ends a cluster that never started, and no other', () => {
  const right: BrokenFindings = {
    end: { code: 1, signal: null },
    said: true,
    serving: 4,
    workers: 4,
    lost: [],
    sent: 100,
    mended: true,
  }
  assert.deepEqual(judgeBroken(right), [])
  const wrong: Partial<BrokenFindings>[] = [
    { end: null },
    { end: { code: 0, signal: null } },
    { end: { code: null, signal: 'SIGKILL' } },
    { said: false },
    { serving: 3 },
    { lost: [lost()] },
    { mended: false },
  ]
  for (const change of wrong)
    assert.equal(judgeBroken({ ...right, ...change }).length, 1, JSON.stringify(change))
})

test('connections of workers are one apart at most', () => {
  assert.deepEqual(judgeBalance([{ connections: 10, held: [3, 3, 2, 2] }]), [])
  assert.deepEqual(judgeBalance([{ connections: 10, held: [4, 2, 2, 2] }]), ['2 apart with 10'])
  assert.deepEqual(judgeBalance([{ connections: 3, held: [] }]).length, 1)
})

test('a request costs 3 % more at most, by the upper end of the ratios of the rounds', () => {
  const one = [10, 11, 12, 10, 11]
  const times = (ratio: number) => one.map((value) => value * ratio)
  const judged = (two: readonly number[], idle: readonly number[] = []) =>
    judgeWorkers(
      new Map([
        [1, one],
        [2, two],
      ]),
      idle,
    )
  assert.deepEqual(judged(times(1.029)).faults, [])
  assert.equal(judged(times(1.029)).ratios.get(2)?.median.toFixed(3), '1.029')
  assert.match(judged([...times(1).slice(1), 11.5]).faults.join(), /^at 2 workers it is 1\.0/)
  assert.equal(judged(times(Number.NaN)).faults.length, 1)
  assert.deepEqual(judged(times(1), [2]).faults, ['with 2 workers one of them did nothing'])
})

test('two workers on two cores do 1.9 times as much at least', () => {
  assert.deepEqual(judgeRates([100, 110], [190, 210]).faults, [])
  assert.match(judgeRates([100, 110], [189, 210]).faults.join(), /^it is .*, of at least 1\.9$/)
})

const supervised: ConnectionFindings = {
  singly: [{ supervised: 60, alone: 35 }],
  crowd: [{ supervised: 28, alone: 20 }],
  request: [{ supervised: 10.1, alone: 10 }],
  start: [{ supervised: 280, alone: 200 }],
  memory: [15e6],
  own: [10e6],
  idle: [0.005],
}

test('what a supervisor costs is met at the bars', () => {
  const { rows, faults } = judgeConnections(supervised)
  assert.deepEqual(faults, [])
  assert.equal(rows.length, 6)
  assert.match(
    rows[0] as string,
    /^a new connection adds +25\.0 .* µs, of at most 25 µs; 60\.0 .* beside 35\.0/,
  )
})

const dearer: Partial<ConnectionFindings>[] = [
  { singly: [{ supervised: 60.1, alone: 35 }] },
  { crowd: [{ supervised: 28.1, alone: 20 }] },
  { request: [{ supervised: 10.11, alone: 10 }] },
  { start: [{ supervised: 281, alone: 200 }] },
  { memory: [15.1e6] },
  { memory: [Number.NaN] },
  { idle: [0.0051] },
]
for (const change of dearer) {
  test(`it is missed beyond one: ${JSON.stringify(change)}`, () => {
    assert.equal(judgeConnections({ ...supervised, ...change }).faults.length, 1)
  })
}

test('a limit lets through what it says and no other number, and waits for no store', () => {
  const exact: Passed = { what: 'memory', passed: 500, seen: 4, workers: 4, failed: 0 }
  const quick: Gone = { what: 'SIGKILL', p99: 60, worst: 400, replies: 2_500, failed: 0, late: 0 }
  const judged = (passed: Partial<Passed>, gone: Partial<Gone> = {}) =>
    judgeLimiter([{ ...exact, ...passed }], [{ ...quick, ...gone }], { limit: 500 })
  assert.deepEqual(judged({}), [])
  assert.deepEqual(judged({ passed: 501 }), ['memory: 501 passed, and 500 were to'])
  assert.deepEqual(judged({ passed: 499 }), ['memory: 499 passed, and 500 were to'])
  assert.deepEqual(judged({ seen: 3 }), ['memory: only 3 of 4 workers answered'])
  assert.deepEqual(judged({ failed: 1 }), ['memory: 1 requests failed'])
  assert.deepEqual(judged({}, { p99: 60.1 }), ['SIGKILL: p99 is 60.1 ms, of at most 60 ms'])
  assert.equal(judged({}, { p99: Number.NaN }).length, 1)
  assert.deepEqual(judged({}, { failed: 2 }), ['SIGKILL: 2 requests failed'])
})

const reloading = 'RELOADING=1\nMONOTONIC_USEC=12\nSTATUS=x'
const restarted = ['-- started', 'READY=1\nSTATUS=2 workers', 'WATCHDOG=1', 'STOPPING=1', '-- ended']
const reloaded = ['-- started', 'READY=1', reloading, 'WATCHDOG=1', 'READY=1', 'STOPPING=1', '-- ended']
const rightly = [...restarted, ...reloaded]
const wrongly: [readonly string[], string][] = [
  [rightly.filter((text) => text !== 'READY=1'), 'READY=1 never came after RELOADING=1'],
  [rightly.filter((text) => text !== 'STOPPING=1'), 'it ended without STOPPING=1'],
  [rightly.filter((text) => text !== 'WATCHDOG=1'), 'WATCHDOG=1 never came'],
  [rightly.filter((text) => text !== reloading), 'RELOADING=1 never came'],
  [
    rightly.flatMap((text) => (text === reloading ? ['RELOADING=1', 'MONOTONIC_USEC=12'] : [text])),
    'RELOADING=1 came without MONOTONIC_USEC in the same message',
  ],
  [[...rightly, '-- started'], 'it was starting at the end'],
  [['-- started', 'READY=1', ...rightly.slice(1)], 'READY=1 came twice'],
  [['-- started', 'STOPPING=1', '-- ended', ...rightly], 'READY=1 never came'],
]

test('what a service says to systemd is right, in this order', () => {
  assert.deepEqual(faultsOfTold(rightly), [])
})
for (const [said, fault] of wrongly) {
  test(`it is found when ${fault}`, () => {
    assert.ok(faultsOfTold(said).includes(fault), faultsOfTold(said).join('; '))
  })
}

test('a service is judged by what failed, what it said, and what it left as PID 1', () => {
  const found: ServiceFindings = {
    lost: [],
    sent: 100,
    restarts: 1,
    said: rightly,
    leaked: 0,
    twice: 0,
    unrun: 0,
  }
  const first = { orphans: 20, zombies: 0, code: 0 }
  assert.deepEqual(judgeService(found, first), [])
  assert.deepEqual(
    judgeService({ ...found, lost: [lost()], leaked: 2 }, { ...first, zombies: 3, code: null }),
    [
      '1 requests failed',
      '2 workers have the variables of the manager',
      '3 zombies are left with PID 1',
      'as PID 1 it ended with null after SIGTERM',
    ],
  )
})
