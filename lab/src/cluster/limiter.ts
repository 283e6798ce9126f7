/** `npm run lab -- limiter`: is a rate limit exact over workers and machines, and does it wait for a store that is gone? */
import { chooseCores, stepAside } from '../cores.ts'
import { Connection } from '../drain/connection.ts'
import { Failure } from '../failure.ts'
import { runLoad } from '../generators/load.ts'
import { hello } from '../scenarios/hello.ts'
import { get, load } from '../scenarios/load.ts'
import { count } from '../soak.ts'
import { Cluster } from './cluster.ts'
import { ClusterLoad } from './load.ts'
import { Redis } from './redis.ts'

export interface LimiterMethod {
  readonly workers: number
  readonly machines: number
  /** What the limit lets through, and how many requests are sent in all. */
  readonly limit: number
  readonly requests: number
  /** Requests a second while the store is gone, and for so many seconds. */
  readonly rate: number
  readonly seconds: number
}

/** What passed a limit. */
export interface Passed {
  readonly what: string
  readonly passed: number
  /** Workers that answered. */
  readonly seen: number
  readonly workers: number
  /** Requests that were neither answered nor refused. */
  readonly failed: number
}

/** What happened after the store was gone. Times are in ms, from when a request was due. */
export interface Gone {
  readonly what: string
  readonly p99: number
  readonly worst: number
  readonly replies: number
  readonly failed: number
  /** Requests that the generator sent more than 1 ms after they were due: what they waited is not the server's. */
  readonly late: number
}

/** The most that 99 of 100 requests wait for, in ms: the 50 ms that the store has, and what a reply takes. */
const mostWait = 60
/** Clients of each machine. */
const clients = 32
/** A limit that the load does not reach. */
const unreached = 1_000_000_000
const refused = 'status 429'
/**
 * What the store has to answer in while it is there, in ms. Past the usual 50 ms a limiter counts by itself, as it
 * should, and on a machine that is as full as this one more than the limit passes then.
 */
const patient = 20_000

/** Measures, prints the figures, and gives a sentence for each bar that was missed. */
export async function limiter(method: LimiterMethod): Promise<readonly string[]> {
  const passed = [await passedBy(1, null, method)]
  const redis = await Redis.start()
  try {
    passed.push(await passedBy(method.machines, redis, method))
  } finally {
    await redis.end()
  }
  const cores = chooseCores()
  stepAside(cores)
  const there = await underLoad(null, method, cores.generator)
  const gone = [
    await underLoad('SIGKILL', method, cores.generator),
    await underLoad('SIGSTOP', method, cores.generator),
  ]
  const faults = judgeLimiter(passed, gone, method)
  console.log(
    `a limit of ${count(method.limit)} a day, ${count(method.requests)} requests of one client\n` +
      passed
        .map((one) => `  ${one.what.padEnd(40)}${count(one.passed)} passed, ${one.failed} failed\n`)
        .join('') +
      `${count(method.rate)} requests/s, from which on the store is gone\n` +
      [there, ...gone]
        .map(
          (one) =>
            `  ${one.what.padEnd(40)}p99 ${one.p99.toFixed(1)} ms, longest ${one.worst.toFixed(1)} ms, ${one.failed} of ${count(one.replies + one.failed)} failed, ${count(one.late)} were sent late\n`,
        )
        .join('') +
      (faults.length === 0 ? '  met' : `  MISSED: ${faults.join('; ')}`),
  )
  return faults
}

/** Gives a sentence for each bar that is missed. */
export function judgeLimiter(
  passed: readonly Passed[],
  gone: readonly Gone[],
  { limit }: Pick<LimiterMethod, 'limit'>,
): string[] {
  return [
    ...passed.flatMap(({ what, passed: through, seen, workers, failed }) => [
      ...(through === limit ? [] : [`${what}: ${count(through)} passed, and ${count(limit)} were to`]),
      ...(failed === 0 ? [] : [`${what}: ${failed} requests failed`]),
      ...(seen === workers ? [] : [`${what}: only ${seen} of ${workers} workers answered`]),
    ]),
    ...gone.flatMap(({ what, p99, failed }) => [
      // NaN must not meet a bar, so the comparison is negated.
      ...(!(p99 <= mostWait) ? [`${what}: p99 is ${p99.toFixed(1)} ms, of at most ${mostWait} ms`] : []),
      ...(failed === 0 ? [] : [`${what}: ${failed} requests failed`]),
    ]),
  ]
}

function start(
  workers: number,
  limit: number,
  machines: number,
  redis: Redis | null,
  timeout: number | null,
): Promise<Cluster> {
  const environment = {
    LIMIT: String(limit),
    WORKERS_IN_ALL: String(workers * machines),
    ...(timeout !== null && { STORE_TIMEOUT: String(timeout) }),
    ...(redis !== null && { REDIS: redis.url }),
  }
  return Cluster.start({ name: 'volant', workers, module: 'limited.mjs', environment })
}

/** Sends all requests at once to clusters that count together; tells how many passed. */
async function passedBy(machines: number, redis: Redis | null, method: LimiterMethod): Promise<Passed> {
  const clusters: Cluster[] = []
  try {
    for (let left = machines; left > 0; left--)
      clusters.push(await start(method.workers, method.limit, machines, redis, patient))
    const loads = clusters.map(({ port }) => new ClusterLoad(port))
    let left = method.requests
    const client = async (own: ClusterLoad) => {
      const connection = await Connection.open(own.port)
      if (connection === null) throw new Failure('a connection was refused')
      while (left-- > 0) await own.ask(connection, 'GET')
      connection.close()
    }
    await Promise.all(loads.flatMap((own) => Array.from({ length: clients }, () => client(own))))
    const lost = loads.flatMap((own) => own.lost)
    const seen = new Set(loads.flatMap((own) => [...own.seen.keys(), ...own.refusing]))
    return {
      what: `${machines === 1 ? '' : `${machines} machines of `}${method.workers} workers, ${redis === null ? 'in memory' : 'through Redis'}`,
      passed: loads.reduce((sum, { answered }) => sum + answered, 0),
      seen: seen.size,
      workers: machines * method.workers,
      failed: lost.filter(({ fault }) => fault !== refused).length,
    }
  } finally {
    for (const cluster of clusters) await cluster.stop()
  }
}

/** Takes the store away when the window begins, under an open loop; null leaves it there, to compare with. */
async function underLoad(
  signal: 'SIGKILL' | 'SIGSTOP' | null,
  method: LimiterMethod,
  core: number | null,
): Promise<Gone> {
  const redis = await Redis.start()
  try {
    const cluster = await start(method.workers, unreached, 1, redis, null)
    try {
      const result = await runLoad({
        load: load(get('/json', hello), { connections: clients, warmup: 1 }),
        port: cluster.port,
        seconds: method.seconds,
        rate: method.rate,
        core,
        onWarm: () => signal !== null && redis.signal(signal),
      })
      return {
        what: signal === null ? 'Redis is there' : `Redis after ${signal}`,
        p99: result.p99 ?? Number.NaN,
        worst: result.worst ?? Number.NaN,
        replies: result.requests,
        failed: result.errors + result.non2xx + (result.fault === null ? 0 : 1),
        late: result.lateSends,
      }
    } finally {
      await cluster.stop()
    }
  } finally {
    await redis.end()
  }
}
