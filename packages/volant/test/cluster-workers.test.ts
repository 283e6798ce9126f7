/** What a supervisor does with workers that cannot be started, that are slow, and that end again and again. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Acceptor } from '@volant/engine/supervisor'
import { testClock } from '@volant/test-kit'
import { Relay } from '../src/cluster/relay.ts'
import { RestartDelay } from '../src/cluster/restart-delay.ts'
import { type WorkerPlan, WorkerProcess } from '../src/cluster/worker-process.ts'

/** An acceptor whose workers have no sockets; it says what it is asked. */
function acceptorOf(asked: string[], addWorker: () => [number, number, number]): Acceptor {
  const say = (name: string) => (worker: number) => void asked.push(`${name} ${worker}`)
  return {
    addWorker,
    spawned: say('spawned'),
    removeWorker: say('removeWorker'),
    setTakes: say('setTakes'),
  } as unknown as Acceptor
}

test('a worker that cannot be started has ended with the error, and the supervisor goes on', async () => {
  const asked: string[] = []
  const ended: string[] = []
  const events = { message: () => {}, ended: (worker: WorkerProcess) => void ended.push(worker.ending ?? '') }
  const exhausted = acceptorOf(asked, () => {
    throw new Error('no descriptors are left')
  })
  const plan = (): WorkerPlan => {
    throw new Error('the preload is not there')
  }
  const first = new WorkerProcess(0, plan, exhausted, events)
  assert.equal(first.ending, null, 'the supervisor knows it before it has ended')
  assert.equal(await first.settled, false)
  await first.over
  assert.deepEqual([ended, asked], [['no descriptors are left'], []])

  const second = new WorkerProcess(
    0,
    plan,
    acceptorOf(asked, () => [7, 8, 9]),
    events,
  )
  await second.over
  assert.equal(ended[1], 'the preload is not there')
  // What is asked of it later would concern the worker that has its number by then.
  second.drain(null)
  second.spare()
  assert.deepEqual(asked, ['spawned 7', 'removeWorker 7'])
})

test('a worker is charged for the bytes of a message that waits for it', () => {
  const channels = new Relay()
  const worker = (): WorkerProcess & { passed: number } =>
    ({ isStuck: false, passed: 0, pass: (_: unknown, bytes: number) => bytes }) as never
  const [from, slow] = [worker(), worker()]
  const sizes: number[] = []
  slow.pass = (_, bytes) => void sizes.push(bytes)
  channels.subscribe(slow, ['news'])
  channels.publish(from, 'news', new Uint8Array(100))
  assert.deepEqual(sizes, [104], 'the bytes that a worker is charged for')
})

test('the next worker starts at once, and then later and later', () => {
  const delay = new RestartDelay()
  assert.equal(delay.next(), 0)
  const times = Array.from({ length: 10 }, () => delay.next())
  const expected = [100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000, 10_000]
  times.forEach((time, at) => {
    const middle = expected[at] as number
    assert.ok(time >= middle * 0.8 && time <= middle * 1.2, `${at}: ${time}`)
  })
})

test('each second that a worker has served takes one failure back, once', async (t) => {
  const clock = testClock(t)
  const delay = new RestartDelay()
  const isAbout = (time: number, middle: number): void =>
    assert.ok(time >= middle * 0.8 && time <= middle * 1.2, `${time} in place of ${middle} ms`)
  for (let failures = 0; failures < 4; failures++) delay.next()
  // Four have failed; one that serves for 999 ms makes up for none of them.
  delay.serves()
  await clock.advance(999)
  isAbout(delay.next(), 800)
  // Five have failed, and one that serves for 2 s makes up for two of them.
  delay.serves()
  await clock.advance(2_000)
  isAbout(delay.next(), 400)
  // The next two workers fail without having served, and the minute before each takes nothing back.
  await clock.advance(60_000)
  isAbout(delay.next(), 800)
  await clock.advance(60_000)
  isAbout(delay.next(), 1_600)
})
