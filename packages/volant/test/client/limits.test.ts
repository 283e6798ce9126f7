/** The time a call has, and what is left of it when it is over. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { testClock, turns } from '@volant/test-kit'
import { ClientError, createClient } from '../../src/client/index.ts'

const url = 'http://server.test'
const routes = { get: ['GET', '/get', [200]], bytes: ['GET', '/bytes'] } as const
type API = { get: { method: 'GET'; path: '/get' }; bytes: { method: 'GET'; path: '/bytes' } }
const never = (): Promise<never> => new Promise(() => {})
const timers = (): number =>
  process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length

/** A signal that tells how many listen to it. */
function watched() {
  const controller = new AbortController()
  const { signal } = controller
  const listeners = new Set<unknown>()
  const add = signal.addEventListener.bind(signal)
  const remove = signal.removeEventListener.bind(signal)
  signal.addEventListener = (type: string, listener: never) => {
    listeners.add(listener)
    add(type, listener)
  }
  signal.removeEventListener = (type: string, listener: never) => {
    listeners.delete(listener)
    remove(type, listener)
  }
  return { controller, signal, listeners }
}

test('a signal that outlives its calls keeps nothing of them', () => {
  const program = `
    const { createClient } = await import(process.argv[1])
    const client = createClient('http://server.test', {
      routes: { get: ['GET', '/get', [200]] },
      fetch: async () => Response.json(1),
    })
    const { signal } = new AbortController()
    const run = async (calls) => { for (let n = 0; n < calls; n++) await client.get({}, { signal }) }
    // A weak reference that was read is cleared in a later turn of the loop.
    const used = async () => {
      for (let n = 0; n < 5; n++) { await new Promise((resolve) => setImmediate(resolve)); gc() }
      return process.memoryUsage().heapUsed
    }
    await run(500)
    const before = await used()
    await run(2000)
    console.log(((await used()) - before) / 2000)`
  const entry = new URL('../../src/client/index.js', import.meta.url).href
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--expose-gc', '--input-type=module', '--eval', program, entry],
    { encoding: 'utf8' },
  )
  assert.ok(Number.parseFloat(stdout) < 500, `${stdout} bytes a call ${stderr}`)
})

test('the signal is left when the call is over, for a stream when that is', async () => {
  const { controller, signal, listeners } = watched()
  let cancelled: unknown
  const endless = (): Response =>
    new Response(
      new ReadableStream({
        pull: (stream) => stream.enqueue(new Uint8Array(5)),
        cancel: (reason) => void (cancelled = reason),
      }),
    )
  let reply = (): Response => Response.json(1)
  const client = createClient<API>(url, { routes, fetch: async () => reply() })
  await client.get({}, { signal })
  assert.equal(listeners.size, 0)
  reply = () => Response.json(1, { status: 500 })
  await assert.rejects(client.get({}, { signal }), ClientError)
  assert.equal(listeners.size, 0)

  const streamOf = async (): Promise<ReadableStream<Uint8Array>> =>
    (await client.bytes({}, { signal })).data as ReadableStream<Uint8Array>
  reply = () => new Response(new Blob(['text']).stream())
  const stream = await streamOf()
  assert.equal(listeners.size, 1)
  assert.equal(await new Response(stream).text(), 'text')
  // From Node.js 26 on the text is given before the stream says that it is closed.
  await new Promise(setImmediate)
  assert.equal(listeners.size, 0)

  reply = endless
  const given = await streamOf()
  await given.cancel('enough')
  await new Promise(setImmediate)
  assert.deepEqual([cancelled, listeners.size], ['enough', 0])

  // A fetch of one's own need not know of signals.
  const reader = (await streamOf()).getReader()
  assert.equal((await reader.read()).value?.length, 5)
  const reason = new Error('stop')
  controller.abort(reason)
  await assert.rejects(async () => {
    for (;;) await reader.read()
  }, reason)
  await new Promise(setImmediate)
  assert.deepEqual([cancelled, listeners.size], [reason, 0])
})

for (const [what, hooks] of Object.entries({
  onRequest: { onRequest: never },
  onResponse: { onResponse: never },
  headers: { headers: never },
  fetch: { fetch: never },
  'the reply': {
    fetch: async () => new Response(new ReadableStream(), { headers: { 'content-type': 'text/plain' } }),
  },
})) {
  test(`timeout and signal end a call whose ${what} never comes`, { timeout: 60_000 }, async (t) => {
    const client = createClient<API>(url, { routes, fetch: async () => Response.json(1), ...hooks })
    const clock = testClock(t)
    let isOver = false
    const late = client.get({}, { timeout: 10 }).finally(() => (isOver = true))
    const refused = assert.rejects(late, { name: 'ClientError', message: 'get: no reply within 10 ms' })
    await clock.advance(9)
    await turns()
    assert.equal(isOver, false)
    await clock.advance(1)
    await refused
    const controller = new AbortController()
    const call = client.get({}, { signal: controller.signal })
    const reason = new Error('enough')
    setImmediate(() => controller.abort(reason))
    await assert.rejects(call, reason)
  })
}

test('times that no timer keeps are refused', async () => {
  let sent = 0
  const client = createClient<API>(url, {
    routes,
    fetch: async () => {
      sent++
      return Response.json(1)
    },
  })
  for (const timeout of [0, -1, Number.NaN, Infinity, 2 ** 31, 1e12]) {
    await assert.rejects(client.get({}, { timeout }), {
      name: 'TypeError',
      message: `timeout cannot be ${timeout}: a number from 1 to 2147483647`,
    })
  }
  for (const timeout of [1000, 2 ** 31 - 1]) assert.equal((await client.get({}, { timeout })).data, 1)
  const sentBefore = sent
  for (const [retry, message] of [
    [Number.NaN, /^retry cannot be NaN/],
    [-1, /^retry cannot be -1/],
    [{ count: 1, delay: -1 }, /^delay/],
    [{ count: 1, delay: 1e12 }, /^delay/],
    [{ count: 1, maxDelay: Infinity }, /^maxDelay/],
  ] as const) {
    await assert.rejects(client.get({}, { retry }), { name: 'TypeError', message })
  }
  assert.equal(sent, sentBefore)
  assert.equal((await client.get({}, { retry: Infinity })).data, 1)
})

test('an aborted wait for the next try leaves no timer', async () => {
  const client = createClient<API>(url, { routes, fetch: async () => new Response(null, { status: 503 }) })
  const before = timers()
  const controller = new AbortController()
  const call = client.get(
    {},
    { signal: controller.signal, retry: { count: 1, delay: 60_000, maxDelay: 60_000 } },
  )
  await new Promise(setImmediate)
  await new Promise(setImmediate)
  assert.equal(timers(), before + 1)
  controller.abort()
  await assert.rejects(call, { name: 'AbortError' })
  assert.equal(timers(), before)
})

test('a reply that a hook is reading is tried again all the same', async () => {
  let tries = 0
  const client = createClient<API>(url, {
    routes,
    retry: { count: 1, delay: 1 },
    fetch: async () => (tries++ ? Response.json(1) : new Response(new ReadableStream(), { status: 503 })),
    onResponse: (response) => void (response.ok || response.body?.getReader()),
  })
  assert.equal((await client.get()).data, 1)
})
