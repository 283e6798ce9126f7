import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { BroadcastChannel, Worker } from 'node:worker_threads'
import { eventually } from '@volant/test-kit'
import { threadsBus } from 'volant/bus'
import { Ear } from './hub.ts'

/** Answers each message of `ask` on `answer`, with what it got. */
const worker = `
import { parentPort, workerData } from 'node:worker_threads'
const { threadsBus } = await import(workerData)
const bus = threadsBus({ nameSpace: 'threads-test' })
bus.subscribe('ask', { message: (topic, data) => bus.publish('answer', data) })
await bus.ready('ask')
parentPort.postMessage('ready')
parentPort.once('message', () => bus.close().then(() => parentPort.close()))
`

test('threads of a process hear each other, and a closed bus keeps no thread alive', async () => {
  const bus = threadsBus({ nameSpace: 'threads-test' })
  const ear = new Ear()
  bus.subscribe('answer', ear)
  const start = async (): Promise<Worker> => {
    const code = new URL(`data:text/javascript,${encodeURIComponent(worker)}`)
    const made = new Worker(code, { workerData: import.meta.resolve('volant/bus') })
    await once(made, 'message')
    return made
  }
  const workers = await Promise.all([start(), start()])
  for (let each = 0; each < 500; each++) bus.publish('ask', String(each))
  bus.publish('ask', new Uint8Array([0xff]))
  await eventually(() => ear.heard.length === 1_002, 'both answer all')
  const numbers = ear.heard.filter((each) => typeof each === 'string').map(Number)
  assert.deepEqual(
    numbers.toSorted((one, other) => one - other),
    Array.from({ length: 1_000 }, (_, at) => at >> 1),
  )
  assert.equal(ear.heard.filter((each) => Buffer.isBuffer(each) && each[0] === 0xff).length, 2)

  // What others post to the same channel is no message.
  const stranger = new BroadcastChannel('threads-test')
  for (const each of [
    'x',
    ['threads-test:t:answer', 5],
    ['threads-test:t:answer', new Uint8Array(40)],
    null,
  ]) {
    stranger.postMessage(each)
  }
  await eventually(() => bus.stats().refused === 2, 'it is counted')
  stranger.close()
  assert.deepEqual([ear.heard.length, ear.gaps], [1_002, []])

  for (const each of workers) {
    const exit = once(each, 'exit')
    each.postMessage('end')
    assert.deepEqual(await exit, [0])
  }
  await bus.close()
})
