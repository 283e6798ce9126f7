/** What one worker says of all: the sums, the labels, and what it says when the supervisor does not answer. */
import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import type { MetricsSnapshot } from '../src/index.ts'
import type { Gathered, Gathering } from '../src/worker/messages.ts'
import { setSupervision, type Supervision } from '../src/worker/supervision.ts'

const answers = new Map<string, () => unknown>()
const asked: string[] = []
let others: readonly Gathered[] = []
let ended: Record<string, number> = {}
let failure: Error | null = null

const cluster = {
  pid: 1,
  size: 2,
  workers: [
    { worker: 0, pid: 2, state: 'ready', isStuck: false, uptime: 9, beat: null },
    { worker: 1, pid: 3, state: 'ready', isStuck: false, uptime: 9, beat: null },
    { worker: 1, pid: 4, state: 'starting', isStuck: false, uptime: 1, beat: null },
  ],
  restarts: { crash: 2, hang: 0, memory: 0, roll: 1, signal: 0, change: 0 },
  isRolling: true,
} as const

const supervisor = {
  worker: 0,
  workers: 2,
  onGather: (what: string, answer: () => unknown) => void answers.set(what, answer),
  onBeat() {},
  onLeave() {},
  onDrain() {},
  onMessage() {},
  async subscribe() {},
  async unsubscribe() {},
  publish() {},
  ready() {},
  async gather(what: string): Promise<Gathering> {
    asked.push(what)
    if (failure !== null) throw failure
    const own = { worker: 0, value: structuredClone(answers.get(what)?.()) }
    return { workers: [own, ...others], ended, cluster }
  },
}
setSupervision(supervisor as unknown as Supervision)

// What an app does in a worker is decided when it is loaded.
const { health, metrics } = await import('../src/index.ts')
const { Kit } = await import('./kit.ts')
const { debug } = await import('../src/debug.ts')

/** The time of `performance.now`: requests take none, and figures do not get older by themselves. */
let now = 0
mock.method(performance, 'now', () => now)

interface Share {
  sums: Record<string, number>
  apps: Record<string, unknown>[]
  process: { memory: { rss: number } }
}

/** Gives what this worker would give now, as if another had given it. */
function another(worker: number, change: (share: Share) => void): Gathered {
  const value = structuredClone([...answers.values()].at(-1)?.()) as Share
  change(value)
  return { worker, value }
}

async function measured() {
  others = []
  ended = {}
  failure = null
  const kit = new Kit()
  const app = kit.app()
  const meter = metrics({ buckets: [0.5, 5] })
  app.use(meter)
  app.get('/metrics', meter.handler)
  app.get('/figures', meter.snapshot)
  app.get('/x', () => 'x')
  const lines = async (): Promise<string[]> => (await app.inject('/metrics')).body.toString().split('\n')
  for (let time = 0; time < 3; time++) await app.inject('/x')
  return { app, lines }
}

test('counts of workers are added up, also of those that have ended', async () => {
  const { lines } = await measured()
  const slow = (share: Share): void => {
    share.sums = { 'time GET 2xx 5 /x': 2, 'time GET 2xx Infinity /x': 1, 'time GET 2xx sum /x': 20_500_000 }
  }
  others = [another(1, slow)]
  // A worker that has ended had other buckets: what took at most 0.1 s took at most 0.5 s.
  ended = { 'time GET 2xx 0.1 /x': 10, 'time GET 2xx sum /x': 500_000, 'time GET 4xx 0.1 /gone': 1 }
  const found = (await lines()).filter((line) => line.includes('route="/x"') || line.includes('/gone'))
  const [sum] = found.filter((line) => line.includes('_sum{method="GET",route="/x"'))
  assert.equal(sum?.split(' ')[1], '21')
  assert.deepEqual(
    found.filter((line) => !line.includes('_sum')),
    [
      'http_request_duration_seconds_bucket{method="GET",route="/x",status="2xx",le="0.5"} 13',
      'http_request_duration_seconds_bucket{method="GET",route="/x",status="2xx",le="5"} 15',
      'http_request_duration_seconds_bucket{method="GET",route="/x",status="2xx",le="+Inf"} 16',
      'http_request_duration_seconds_count{method="GET",route="/x",status="2xx"} 16',
      'http_request_duration_seconds_bucket{method="GET",route="/gone",status="4xx",le="0.5"} 1',
      'http_request_duration_seconds_bucket{method="GET",route="/gone",status="4xx",le="5"} 1',
      'http_request_duration_seconds_bucket{method="GET",route="/gone",status="4xx",le="+Inf"} 1',
      'http_request_duration_seconds_count{method="GET",route="/gone",status="4xx"} 1',
    ],
  )
})

test('what belongs to a process has the slot, once for each, and the newest of two', async () => {
  const { lines } = await measured()
  const withMemory = (rss: number) =>
    another(1, (share) => {
      share.process.memory.rss = rss
    })
  others = [withMemory(11), withMemory(22), { worker: 2, value: null }]
  const found = await lines()
  const memory = found.filter((line) => line.startsWith('process_resident_memory_bytes'))
  assert.equal(memory.length, 2)
  assert.match(String(memory[0]), /^process_resident_memory_bytes\{worker="0"\} \d{6,}$/)
  assert.equal(memory[1], 'process_resident_memory_bytes{worker="1"} 22')
  assert.ok(found.includes(`nodejs_version_info{worker="1",version="${process.version}"} 1`))
  assert.deepEqual(
    found.filter((line) => line.startsWith('volant_work')),
    [
      'volant_workers{state="starting"} 1',
      'volant_workers{state="ready"} 2',
      'volant_workers{state="draining"} 0',
      'volant_worker_restarts_total{reason="crash"} 2',
      'volant_worker_restarts_total{reason="hang"} 0',
      'volant_worker_restarts_total{reason="memory"} 0',
      'volant_worker_restarts_total{reason="roll"} 1',
      'volant_worker_restarts_total{reason="signal"} 0',
      'volant_worker_restarts_total{reason="change"} 0',
    ],
  )
  const series = found
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split(' ')[0])
  assert.equal(new Set(series).size, series.length)
})

test('two of them in a process are asked for by names of their own', async () => {
  await measured()
  const before = answers.size
  metrics()
  metrics()
  assert.equal(answers.size, before + 2)
})

test('many who ask at once have the workers asked once, and those who ask later anew', async () => {
  const { lines } = await measured()
  const before = asked.length
  await Promise.all(Array.from({ length: 20 }, lines))
  assert.equal(asked.length, before + 1)
  await lines()
  assert.equal(asked.length, before + 2)
})

test('without an answer of the supervisor there are no figures, rather than those of one worker', async () => {
  const { app } = await measured()
  failure = new Error('the supervisor of this worker has ended')
  const { status, body } = await app.inject('/metrics')
  assert.equal(status, 503)
  assert.match(body.toString(), /the supervisor does not answer/)
  assert.ok(!body.toString().includes('http_request_duration_seconds'))
  failure = null
  assert.equal((await app.inject('/metrics')).status, 200)
})

test('the snapshot has the cluster beside the figures of this worker, gathered in the background', async () => {
  const { app } = await measured()
  const figures = async (): Promise<MetricsSnapshot> =>
    JSON.parse((await app.inject('/figures')).body.toString()) as MetricsSnapshot
  const count = asked.length
  assert.equal((await figures()).cluster, undefined)
  assert.equal(asked.length, count + 1)
  const { cluster: found, routes } = await figures()
  assert.equal(asked.length, count + 1, 'figures that are younger than half a second are used again')
  assert.deepEqual(found, {
    ...cluster,
    worker: 0,
    server: { connections: 0, inFlight: 0, requests: 0, sockets: 0 },
  })
  const counts = routes.map(({ route, count: requests }) => [route, requests])
  assert.deepEqual(Object.fromEntries(counts), { '/x': 3, '/figures': 1 })
  failure = new Error('the supervisor of this worker has ended')
  now += 501
  assert.equal((await figures()).cluster?.pid, 1, 'those of before stand for five seconds')
  assert.equal(asked.length, count + 2, 'they are asked for again')
})

test('an app that listens is counted with its counterpart in other workers, bus included', async () => {
  failure = null
  const kit = new Kit()
  const app = kit.app()
  const meter = metrics()
  app.use(meter)
  app.get('/metrics', meter.handler)
  const { listeningApps } = await import('../src/app/supervised.ts')
  const bus = { connected: true, topics: 1, waiting: 0, published: 5, received: 2, unsent: 0 }
  const stats = {
    connections: 1,
    inFlight: 1,
    requests: 7,
    refused: 1,
    bus: { ...bus, gaps: 0, lost: 0, refused: 0 },
  }
  app.stats = () => stats
  listeningApps.push(app)
  others = [
    another(1, (share) => {
      share.apps = [{ ...stats, connections: 4, bus: { ...stats.bus, connected: false, topics: 3 } }]
      share.sums = { 'app 0 requests': 10, 'app 0 refused': 2, 'bus 0 published': 1 }
    }),
  ]
  ended = { 'app 0 requests': 100, 'bus 0 published': 1_000 }
  const found = (await app.inject('/metrics')).body.toString().split('\n')
  for (const line of [
    'http_connections 5',
    'http_requests_in_flight 2',
    'http_requests_total 117',
    'http_requests_refused_total 3',
    'volant_bus_connected{worker="0"} 1',
    'volant_bus_connected{worker="1"} 0',
    'volant_bus_topics{worker="1"} 3',
    'volant_bus_published_total 1006',
    'volant_bus_received_total 2',
  ]) {
    assert.ok(found.includes(line), `${line} is not in:\n${found.join('\n')}`)
  }
  // What no adapter counts has no line.
  assert.ok(!found.some((line) => line.startsWith('http_connections_dropped_total')))
})

test('health, debug routes and log lines name the worker', async () => {
  const kit = new Kit()
  const written: string[] = []
  const app = kit.app({ log: { destination: { write: (line: string) => void written.push(line) } } })
  app.register(health, { details: '/details' })
  app.register(debug, { guard: (_ctx, next) => next() })
  assert.equal(((await app.inject('/details')).json() as { worker: number }).worker, 0)
  const runtime = await app.inject('/debug/runtime')
  assert.equal(runtime.headers['volant-worker'], '0')
  assert.deepEqual((runtime.json() as { worker: unknown }).worker, { id: 0, count: 2 })
  app.log.info({ worker: 'mine', other: 1 }, 'a line')
  const line = JSON.parse(String(written[0])) as Record<string, unknown>
  assert.deepEqual([line['worker'], line['other'], line['pid']], [0, 1, process.pid])
})
