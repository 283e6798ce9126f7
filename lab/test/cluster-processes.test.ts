/** The commands about clusters with real processes, in a short form. node:cluster is there wherever Node.js is. */
import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { eventually } from '@volant/test-kit'
import { unshareCommand } from '../src/cluster/service.ts'
import { rateOf } from '../src/cluster/workers.ts'
import { packageFolder } from '../src/folders.ts'
import { isInstalled } from '../src/machine.ts'
import { type Outcome, laboratory } from './laboratory.ts'

const lab = laboratory()
after(() => lab.close())

/** Runs a command of the lab on the entries of this repository; nothing may be left of it. */
async function run(...args: string[]): Promise<Outcome> {
  const outcome = await lab.run(args, { LAB_ENTRIES: join(packageFolder, 'entries') })
  // A killed process may end a little later.
  await eventually(() => processesIn(lab.folder).length === 0, 'no process of a cluster is left')
  await eventually(() => lab.leftovers().length === 0, 'nothing is left of the command')
  return outcome
}

/** Those with a folder below this one in their environment: a cluster gets one. */
function processesIn(folder: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return false
    try {
      return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`SCRATCH=${folder}`)
    } catch {
      return false
    }
  })
}

/** A rival may miss a bar: the exit code says whether it did. */
function assertJudged({ code, output, errors }: Outcome): void {
  const isMet = /\n {2}met\n$/.test(output)
  assert.ok(isMet || /\n {2}MISSED: .+\n$/.test(output), output + errors)
  assert.equal(code, isMet ? 0 : 1, output + errors)
}

test('a roll replaces all workers of node:cluster', async () => {
  const outcome = await run('roll', '--server', 'node', '--workers', '2', '--rolls', '1', '--requests', '500')
  assertJudged(outcome)
  const [, requests, seen] =
    /\n {2}requests {4}([\d,]+), answered by (\d+) workers\n/.exec(outcome.output) ?? []
  assert.ok(Number(requests?.replaceAll(',', '')) >= 500, outcome.output)
  assert.equal(seen, '4')
  assert.match(outcome.output, /\n {2}run twice {3}0 POST\n/)
})

test('two of the workers of node:cluster are killed and replaced', async () => {
  const outcome = await run('kill', '--server', 'node', '--count', '2', '--clients', '16')
  assertJudged(outcome)
  assert.match(outcome.output, /: 2 kills of one of 4 workers/)
  assert.match(outcome.output, /\n {2}new worker {2}after \d+ ms, \d+ ms at most\n/)
})

test('nothing is left of node:cluster when its primary is killed', async () => {
  const outcome = await run('kill', '--server', 'node', '--who', 'supervisor', '--workers', '2')
  assertJudged(outcome)
  for (const state of ['starting', 'serving', 'rolling', 'draining'])
    assert.match(outcome.output, new RegExp(`\\n  ${state} +\\S`))
})

test('connections of node:cluster are counted by worker', async () => {
  const outcome = await run('balance', '--server', 'node', '--workers', '3', '--connections', '7,40')
  assertJudged(outcome)
  const rows = [...outcome.output.matchAll(/\n {2}of (\d+) +([\d, ]+): /g)]
  assert.deepEqual(
    rows.map(([, total]) => total),
    ['7', '40'],
    outcome.output,
  )
  for (const [, total, held = ''] of rows) {
    const sum = held.split(', ').reduce((all, one) => all + Number(one), 0)
    assert.equal(sum, Number(total))
  }
})

test('no request is lost by a roll of Volant', async () => {
  const { code, output, errors } = await run('roll', '--workers', '2', '--rolls', '1', '--requests', '500')
  assert.equal(code, 0, output + errors)
  assert.match(output, /: 1 rolls of 2 workers.*\n {2}requests.*, answered by 4 workers\n {2}failed {6}0\n/)
})

// When a new worker serves is a matter of speed.
test('what Volant loses with a worker that is killed was in flight there', async () => {
  const { output, errors } = await run('kill', '--count', '2', '--clients', '16')
  assert.match(output, /\n {2}beyond {6}0\n {2}run twice {3}0 POST\n/, output + errors)
})

test('a version of Volant’s app that throws replaces none that serves', async () => {
  const { code, output, errors } = await run('kill', '--who', 'start', '--workers', '2')
  assert.equal(code, 0, output + errors)
})

test('workers of Volant have as many connections, but one', async () => {
  const { code, output, errors } = await run('balance', '--workers', '3', '--connections', '7,40')
  assert.equal(code, 0, output + errors)
})

test(
  'a service with a socket of its manager refuses nobody, and is a good first process',
  { skip: unshareCommand() === null && 'unshare may not make a namespace of processes here' },
  async () => {
    const { code, output, errors } = await run(
      'systemd',
      '--restarts',
      '1',
      '--clients',
      '12',
      '--orphans',
      '5',
    )
    assert.equal(code, 0, output + errors)
    assert.match(output, /\n {2}said {8}READY 3, RELOADING 1, STOPPING 2, WATCHDOG \d+ times\n/)
  },
)

test(
  'machines count one limit through Redis',
  { skip: !isInstalled('redis-server') && 'redis-server is missing' },
  async () => {
    const numbers = [
      '--workers',
      '2',
      '--limit',
      '40',
      '--requests',
      '400',
      '--rate',
      '100',
      '--seconds',
      '1',
    ]
    const outcome = await run('limiter', ...numbers)
    assertJudged(outcome)
    assert.match(outcome.output, /\n {2}2 workers, in memory +40 passed, 0 failed\n/)
    assert.match(outcome.output, /\n {2}2 machines of 2 workers, through Redis +40 passed, 0 failed\n/)
  },
)

const short = ['--seconds', '0.3', '--rounds', '1']
/** A busy machine stops a worker for up to 2 s: in a shorter window it may do nothing. */
const longer = ['--seconds', '2.5', '--rounds', '1']

test('a request of node:cluster is measured at 1 and 2 workers, and all of its processes are counted', async () => {
  const outcome = await run('workers', '--server', 'node', '--workers', '1,2', ...longer)
  assertJudged(outcome)
  assert.match(outcome.output, /\n {3}1 workers {2}[\d.]+ \(.*\n {3}2 workers {2}[\d.]+ \(.* of that at 1\n/)
  const [, one, two] = /2 workers: .*, by worker (\d+) %, (\d+) %/.exec(outcome.errors) ?? []
  assert.ok(Number(one) >= 1 && Number(two) >= 1, outcome.errors)
})

test('what node:cluster costs is measured beside one process', async () => {
  const outcome = await run('connections', '--server', 'node', '--idle', '0.5', ...short)
  assertJudged(outcome)
  const [, supervisor] = /\n {2}PSS of the first process +([\d.]+) /.exec(outcome.output) ?? []
  assert.ok(Number(supervisor) > 1, outcome.output)
})

test(
  'two generators on cores of their own load workers together',
  { skip: availableParallelism() < 2 },
  async () => {
    const rate = await rateOf('node', 2, '0,1', [0, 1], { connections: 8, seconds: 2.5 })
    assert.ok(rate > 0)
  },
)

test(
  'workers on cores of their own are refused where the generators have none',
  { skip: availableParallelism() >= 4 && 'the generators have cores of their own here' },
  async () => {
    const { code, errors } = await run('workers', '--server', 'node', '--own-cores')
    assert.equal(code, 2)
    assert.match(errors, /need 4 cores, and there are \d: on these the generator would be measured\n$/)
  },
)

test('a rival that cannot be rolled is told in a line, and fails nothing', async () => {
  const { code, output, errors } = await run('roll', '--server', 'uws', '--rolls', '1')
  assert.equal(code, 2, output)
  assert.match(errors, /lab: uWebSockets\.js on worker threads has no rolling restart: /)
})
