/** What the supervisor keeps of workers that are silent, start, or have ended. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testClock, turns } from '@volant/test-kit'
import { Gatherings } from '../src/cluster/relay.ts'
import type { WorkerProcess } from '../src/cluster/worker-process.ts'
import type { ClusterInfo, ToWorker } from '../src/worker/messages.ts'

const info = () => ({}) as ClusterInfo

/** A worker that answers when the test says so. */
class Worker {
  readonly slot: number
  readonly given = new Map<string, unknown>()
  readonly asked: number[] = []
  state = 'ready'
  isStuck = false

  constructor(slot: number) {
    this.slot = slot
  }

  send(message: ToWorker): void {
    if (message.volant === 'gather') this.asked.push(message.id)
  }

  get process(): WorkerProcess {
    return this as unknown as WorkerProcess
  }
}

function setOf(...workers: Worker[]): Set<WorkerProcess> {
  return new Set(workers.map(({ process }) => process))
}

const requests = (count: number) => ({ sums: { requests: count } })

test('a worker that does not answer counts with what it gave last', async (t) => {
  const clock = testClock(t)
  const gatherings = new Gatherings()
  const [first, silent, stuck] = [new Worker(0), new Worker(1), new Worker(2)]
  stuck.isStuck = true
  gatherings.keep(silent.process, 'x', requests(5))
  gatherings.keep(stuck.process, 'x', requests(7))
  const round = gatherings.gather('x', first.process, setOf(first, silent, stuck), info)
  gatherings.take(first.process, first.asked[0] as number, 'x', requests(1))
  let isOver = false
  void round.then(() => (isOver = true))
  await clock.advance(799)
  await turns()
  assert.equal(isOver, false)
  await clock.advance(1)
  assert.deepEqual(
    (await round).workers.map(({ worker, value }) => [worker, value]),
    [
      [0, requests(1)],
      [1, requests(5)],
      [2, requests(7)],
    ],
  )
  assert.deepEqual(stuck.asked, [], 'one that is stuck is not waited for')
  // The answer that comes too late for this round counts in the next one.
  gatherings.take(silent.process, silent.asked[0] as number, 'x', requests(6))
  assert.deepEqual(silent.given.get('x'), requests(6))
})

test('one that starts is asked only if it asks itself', async () => {
  const gatherings = new Gatherings()
  const [ready, starting] = [new Worker(0), new Worker(1)]
  starting.state = 'starting'
  const rounds = [ready, starting].map((asker) =>
    gatherings.gather('x', asker.process, setOf(ready, starting), info),
  )
  assert.deepEqual([ready.asked.length, starting.asked.length], [1, 1])
  for (const worker of [ready, starting])
    for (const id of worker.asked) gatherings.take(worker.process, id, 'x', requests(1))
  await Promise.all(rounds)
})

test('those who ask at once get the same answer, and the next one a new answer', async () => {
  const gatherings = new Gatherings()
  const [first, second] = [new Worker(0), new Worker(1)]
  const all = setOf(first, second)
  const answer = (): void => {
    for (const worker of [first, second])
      gatherings.take(worker.process, worker.asked.at(-1) as number, 'x', requests(worker.asked.length))
  }
  const rounds = [first, second, first, second].map((asker) =>
    gatherings.gather('x', asker.process, all, info),
  )
  const other = gatherings.gather('y', first.process, all, info)
  assert.deepEqual([first.asked.length, second.asked.length], [2, 2], 'once for x and once for y')
  for (const worker of [first, second])
    for (const [at, id] of worker.asked.entries())
      gatherings.take(worker.process, id, at === 0 ? 'x' : 'y', requests(1))
  const [given, ...same] = await Promise.all(rounds)
  for (const each of same) assert.equal(each, given)
  await other
  const next = gatherings.gather('x', second.process, all, info)
  assert.deepEqual([first.asked.length, second.asked.length], [3, 3])
  answer()
  assert.deepEqual((await next).workers[0]?.value, requests(3))
})

test('the last sums of workers that have ended are added up', async () => {
  const gatherings = new Gatherings()
  const [first, second, third] = [new Worker(0), new Worker(1), new Worker(2)]
  const all = setOf(first, second, third)
  const round = gatherings.gather('x', first.process, all, info)
  gatherings.take(first.process, first.asked[0] as number, 'x', requests(1))
  gatherings.take(second.process, second.asked[0] as number, 'x', requests(10))
  // Two end while they are asked for: nobody waits for them.
  for (const worker of [second, third]) {
    all.delete(worker.process)
    gatherings.retire(worker.process)
  }
  const { workers, ended } = await round
  assert.deepEqual([workers.length, { ...ended }], [1, { requests: 10 }])
})

test('what arrives after the end of a worker was noticed counts, and nothing twice', async () => {
  const gatherings = new Gatherings()
  const [first, gone] = [new Worker(0), new Worker(1)]
  const endedNow = async (): Promise<Readonly<Record<string, number>>> => {
    const round = gatherings.gather('x', first.process, setOf(first), info)
    gatherings.take(first.process, first.asked.at(-1) as number, 'x', null)
    return (await round).ended
  }
  gatherings.keep(gone.process, 'x', requests(10))
  gatherings.retire(gone.process)
  assert.deepEqual({ ...(await endedNow()) }, { requests: 10 })
  gatherings.keep(gone.process, 'x', { sums: { requests: 12, refused: 1 } })
  assert.deepEqual({ ...(await endedNow()) }, { requests: 12, refused: 1 })
  // It could not say any more, or said what is no number.
  gatherings.keep(gone.process, 'x', null)
  assert.deepEqual({ ...(await endedNow()) }, { requests: 12, refused: 1 })
  gatherings.keep(gone.process, 'x', { sums: { requests: 13, refused: NaN } })
  assert.deepEqual({ ...(await endedNow()) }, { requests: 13, refused: 0 })
})

test('a worker that came during a round is in its answer, as it may be in one before', async () => {
  const gatherings = new Gatherings()
  const [first, young] = [new Worker(0), new Worker(1)]
  const all = setOf(first)
  const round = gatherings.gather('x', first.process, all, info)
  all.add(young.process)
  gatherings.keep(young.process, 'x', requests(3))
  gatherings.take(first.process, first.asked[0] as number, 'x', requests(1))
  assert.deepEqual((await round).workers, [
    { worker: 0, value: requests(1) },
    { worker: 1, value: requests(3) },
  ])
})
