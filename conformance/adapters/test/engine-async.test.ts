import assert from 'node:assert/strict'
import { AsyncLocalStorage, executionAsyncId, executionAsyncResource } from 'node:async_hooks'
import { readFile } from 'node:fs'
import { pbkdf2 } from 'node:crypto'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { spawn } from 'node:child_process'
import { MessageChannel } from 'node:worker_threads'
import { testClock } from '@volant/test-kit'
import { deferred, eventually, Kit, request, turns } from '../src/kit.ts'
import { skip } from './engine/native.ts'

const kit = new Kit('native')

/** Requests in one segment, so that they come in one slice. */
function segment(paths: string[]): Buffer {
  return Buffer.concat(paths.map((path) => request('GET', path)))
}

test(
  'enterWith in a handler is gone in the next request, in the same slice and in later ones',
  { skip },
  async () => {
    const store = new AsyncLocalStorage<string>()
    const app = kit.app()
    // Synchronous: nothing but the engine stands between one request and the next.
    app.get('/:id', (ctx) => {
      const before = store.getStore() ?? 'nothing'
      store.enterWith(ctx.params.id)
      return `${before} ${store.getStore()}`
    })
    await kit.serve(app, async (live) => {
      const wires = await Promise.all(Array.from({ length: 8 }, () => live.connect()))
      for (let round = 0; round < 25; round++) {
        for (const wire of wires) wire.send(segment([1, 2, 3, 4].map((id) => `/${round}.${id}`)))
        for (const wire of wires) {
          for (const id of [1, 2, 3, 4]) assert.equal((await wire.reply()).text, `nothing ${round}.${id}`)
        }
      }
    })
  },
)

test('AsyncLocalStorage.run holds across awaits of every kind', { skip }, async () => {
  const store = new AsyncLocalStorage<string>()
  const app = kit.app()
  app.get('/:id', (ctx) =>
    store.run(ctx.params.id, async () => {
      const seen: (string | undefined)[] = []
      for (const wait of waits) {
        await new Promise<void>((resolve) => wait(resolve))
        seen.push(store.getStore())
      }
      return seen
    }),
  )
  await kit.serve(app, async (live) => {
    const wires = await Promise.all(Array.from({ length: 6 }, () => live.connect()))
    const ids = wires.map((_, wire) => [1, 2, 3, 4, 5].map((id) => `${wire}.${id}`))
    wires.forEach((wire, index) => wire.send(segment((ids[index] as string[]).map((id) => `/${id}`))))
    for (const [index, wire] of wires.entries()) {
      for (const id of ids[index] as string[]) {
        assert.deepEqual(
          (await wire.reply()).json(),
          waits.map(() => id),
        )
      }
    }
  })
})

test('every request has an async resource and id of its own', { skip }, async () => {
  const resources = new Set<object>()
  const ids = new Set<number>()
  const app = kit.app()
  app.get('/', () => {
    resources.add(executionAsyncResource())
    ids.add(executionAsyncId())
    return 'x'
  })
  await kit.serve(app, async (live) => {
    const wire = await live.connect()
    for (let round = 0; round < 10; round++) {
      wire.send(segment(Array.from({ length: 10 }, () => '/')))
      for (let reply = 0; reply < 10; reply++) assert.equal((await wire.reply()).text, 'x')
    }
  })
  assert.equal(resources.size, 100)
  assert.equal(ids.size, 100)
})

test(
  'after the handlers of a slice come nextTick, then microtasks, then the rest of the loop',
  { skip },
  async (t) => {
    const order: string[] = []
    const clock = testClock(t)
    // By the clock that is held: what it has to be is only not yet over.
    const later = 20
    const app = kit.app()
    app.get('/:id', async (ctx) => {
      const { id } = ctx.params
      order.push(`handler ${id}`)
      setImmediate(() => order.push(`immediate ${id}`))
      const timeout = new Promise<void>((resolve) =>
        setTimeout(() => {
          order.push(`timeout ${id}`)
          resolve()
        }, later),
      )
      queueMicrotask(() => order.push(`microtask ${id}`))
      process.nextTick(() => {
        order.push(`tick ${id}`)
        queueMicrotask(() => order.push(`microtask of tick ${id}`))
      })
      await Promise.resolve()
      order.push(`await ${id}`)
      await timeout
      return id
    })
    await kit.serve(app, async (live) => {
      const wire = await live.connect()
      wire.send(segment(['/1', '/2']))
      await eventually(
        () => ['immediate 1', 'immediate 2'].every((step) => order.includes(step)),
        'the rest of the loop',
      )
      await clock.advance(later)
      await wire.reply()
      await wire.reply()
    })
    const steps = ['handler', 'tick', 'microtask', 'await', 'microtask of tick', 'immediate', 'timeout']
    const isLoop = (step: string) => step.startsWith('immediate') || step.startsWith('timeout')
    for (const id of ['1', '2']) {
      assert.deepEqual(
        order.filter((step) => step.endsWith(id)),
        steps.map((step) => `${step} ${id}`),
      )
      const rest = order.slice(order.indexOf(`handler ${id}`), order.indexOf(`microtask of tick ${id}`))
      assert.ok(!rest.some(isLoop), `the loop went on before the slice was done: ${order.join(', ')}`)
    }
    // A slice is as large as the last ones were fast to answer: on a busy machine it may be one request.
    if (order[1] !== 'handler 2') return
    const oneSlice = 'handler 1, handler 2, tick 1, tick 2, microtask 1, await 1, microtask 2, await 2'
    assert.deepEqual(
      order.filter((step) => !isLoop(step)),
      [...oneSlice.split(', '), 'microtask of tick 1', 'microtask of tick 2'],
    )
  },
)

const { port1, port2 } = new MessageChannel()
port1.unref()
port2.unref()

/** Where in the loop a reply may come from. */
const waits: ((resolve: () => void) => void)[] = [
  function promise(resolve) {
    void Promise.resolve().then(resolve)
  },
  function microtask(resolve) {
    queueMicrotask(resolve)
  },
  function nextTick(resolve) {
    process.nextTick(resolve)
  },
  function immediate(resolve) {
    setImmediate(resolve)
  },
  function timer(resolve) {
    setTimeout(resolve, 0)
  },
  function immediateInTimer(resolve) {
    setTimeout(() => setImmediate(resolve), 0)
  },
  function promiseInImmediate(resolve) {
    setImmediate(() => void Promise.resolve().then(resolve))
  },
  function file(resolve) {
    readFile(fileURLToPath(import.meta.url), () => resolve())
  },
  function threadPool(resolve) {
    pbkdf2('x', 'y', 1, 16, 'sha256', () => resolve())
  },
]

/** How often the loop of this thread has waited for events. */
function turnOfLoop(): number {
  return performance.nodeTiming.uvMetricsInfo.loopCount
}

/**
 * What was sent before the loop waits again is received when it has waited once. What the engine has to be woken for, by
 * its timer, is received after the second time. Other sockets may wake the loop now and then.
 */
function isOfOneTurn(took: number[]): void {
  took.sort((a, b) => a - b)
  assert.ok((took[4] as number) <= 1, `turns: ${took.join(', ')}`)
}

for (const wait of waits) {
  test(`a reply from ${wait.name} goes out in the same turn of the loop`, { skip }, async () => {
    const app = kit.app()
    const replied = deferred()
    let begun = 0
    app.get('/', (ctx) => {
      wait(() => {
        begun = turnOfLoop()
        ctx.text('x')
      })
      return replied.promise
    })
    await kit.serve(app, async (live) => {
      const took: number[] = []
      for (let round = 0; round < 9; round++) {
        const wire = await live.connect()
        await wire.send(request('GET', '/')).reply()
        took.push(turnOfLoop() - begun)
        wire.close()
      }
      replied.resolve()
      isOfOneTurn(took)
    })
  })
}

test('a reply from a message of another port goes out in the same turn of the loop', { skip }, async () => {
  const app = kit.app()
  let begun = 0
  app.get('/', async () => {
    const text = await new Promise<string>((resolve) => port2.once('message', resolve))
    begun = turnOfLoop()
    return text
  })
  await kit.serve(app, async (live) => {
    const took: number[] = []
    for (let round = 0; round < 9; round++) {
      const wire = await live.connect()
      wire.send(request('GET', '/'))
      // The event loop has nothing else to do by then.
      void turns().then(() => port1.postMessage('x'))
      assert.equal((await wire.reply()).text, 'x')
      took.push(turnOfLoop() - begun)
      wire.close()
    }
    isOfOneTurn(took)
  })
  port2.close()
})

const { NODE24 } = process.env

test(
  'all of this on the Node that NODE24 names',
  { skip: NODE24 ? skip : 'NODE24 names no Node' },
  async () => {
    const { NODE_TEST_CONTEXT: _, NODE24: node, ...env } = process.env
    const child = spawn(node as string, ['--test', fileURLToPath(import.meta.url)], { env, stdio: 'pipe' })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
    assert.equal(await new Promise((resolve) => child.on('close', resolve)), 0, output)
  },
)
