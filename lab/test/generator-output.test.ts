/** wrk, autocannon and oha: what they print is read, how they are called, and what they do not check is. */
import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { after, test } from 'node:test'
import { runForeign } from '../src/generators/foreign.ts'
import type { LoadResult } from '../src/generators/generator.ts'
import { parseWrk } from '../src/generators/wrk-output.ts'
import { type Load, scenarioOf, variantOf } from '../src/scenario.ts'

const folder = mkdtempSync(join(tmpdir(), 'generators-'))
const path = process.env['PATH']
process.env['PATH'] = [folder, path].join(delimiter)
after(() => {
  process.env['PATH'] = path
  rmSync(folder, { recursive: true })
})

function wrkReport(p50: string, p99: string, total: string, extra = ''): string {
  return `Running 10s test @ http://127.0.0.1:3000/json
  1 threads and 100 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   284.27us  145.95us   4.19ms   96.31%
    Req/Sec   187.54k     3.14k  192.73k    66.67%
  Latency Distribution
     50%  ${p50}
     75%  287.00us
     90%  313.00us
     99%  ${p99}
  ${total}, 78.96MB read
${extra}Requests/sec: 186320.24
Transfer/sec:     26.30MB
`
}

const autocannonReport = JSON.stringify({
  url: 'http://127.0.0.1:3000/json',
  connections: 100,
  sampleInt: 1000,
  pipelining: 1,
  duration: 3.01,
  samples: 3,
  errors: 2,
  timeouts: 1,
  mismatches: 0,
  non2xx: 0,
  resets: 0,
  '1xx': 0,
  '2xx': 90_000,
  latency: {
    average: 3.1,
    mean: 3.1,
    stddev: 0.9,
    min: 1,
    max: 41,
    p50: 3,
    p75: 4,
    p90: 4,
    p97_5: 5,
    p99: 7,
    p99_9: 21,
    totalCount: 90_000,
  },
  requests: { average: 30_000, mean: 30_000, min: 29_000, max: 31_000, total: 90_000, sent: 90_100 },
  throughput: { average: 5_000_000, total: 15_000_000 },
})

const ohaReport = JSON.stringify({
  summary: {
    successRate: 1,
    total: 2.5,
    slowest: 0.04,
    fastest: 0.0001,
    average: 0.002,
    requestsPerSec: 40_000,
    totalData: 2_400_000,
    sizePerRequest: 24,
    sizePerSec: 960_000,
  },
  responseTimeHistogram: { '0.0001': 1 },
  latencyPercentiles: {
    p10: 0.001,
    p25: 0.0015,
    p50: 0.002,
    p75: 0.003,
    p90: 0.004,
    p95: 0.005,
    p99: 0.009,
    'p99.9': 0.02,
    'p99.99': null,
  },
  rps: { mean: 40_000, stddev: 10 },
  statusCodeDistribution: { '200': 100_000 },
  errorDistribution: { 'aborted due to deadline': 100, 'connection refused': 3 },
})

/** A program of that name that prints the report and keeps its arguments. */
function install(name: string, report: string, code = 0): void {
  writeFileSync(join(folder, 'report'), report)
  const script = `#!/bin/sh\necho "$@" > ${folder}/arguments\ncat ${folder}/report\nexit ${code}\n`
  writeFileSync(join(folder, name), script)
  chmodSync(join(folder, name), 0o755)
}

function loadOf(scenario: string, variant?: string): Load {
  const found = scenarioOf(scenario)
  const { measure } = variant === undefined ? found.variants[0]! : variantOf(found, variant)
  return { ...measure.load, warmup: 0 }
}

function run(
  name: 'wrk' | 'autocannon' | 'oha',
  load = loadOf('ramapi-json'),
  rate: number | null = null,
): Promise<LoadResult> {
  return runForeign(name, { load, port: 3000, seconds: 2, rate, core: null })
}

const given = (): string => readFileSync(join(folder, 'arguments'), 'utf8').trim()
const skip = existsSync('/bin/sh') ? false : 'needs a shell'

test('wrk: a report without errors', () => {
  assert.deepEqual(parseWrk(wrkReport('267.00us', '4.19ms', '559420 requests in 3.00s')), {
    requests: 559_420,
    seconds: 3,
    requestsPerSecond: 186_320.24,
    p50: 267,
    p99: 4190,
    mean: 284.27,
    worst: 4190,
    bytes: 78.96 * 2 ** 20,
    non2xx: 0,
    socketErrors: 0,
  })
})

test('wrk: times in every unit', () => {
  const cases: [string, number][] = [
    ['0.00us', 0],
    ['999.00us', 999],
    ['1.00ms', 1_000],
    ['39.87ms', 39_870],
    ['1.25s', 1_250_000],
    ['1.50m', 90_000_000],
    ['1.00h', 3_600_000_000],
  ]
  for (const [text, expected] of cases) {
    const result = parseWrk(wrkReport(text, text, `1 requests in ${text}`))
    assert.deepEqual([result?.p50, result?.p99, result?.seconds], [expected, expected, expected / 1e6], text)
  }
})

test('wrk: errors are counted, and a report that is cut off is none', () => {
  const extra =
    '  Socket errors: connect 1, read 20, write 300, timeout 4000\n  Non-2xx or 3xx responses: 17\n'
  const whole = wrkReport('1.00ms', '2.00ms', '5 requests in 1.60s', extra)
  assert.deepEqual([parseWrk(whole)?.socketErrors, parseWrk(whole)?.non2xx], [4321, 17])
  assert.equal(parseWrk(''), null)
  assert.equal(parseWrk(whole.slice(0, whole.indexOf('Requests/sec'))), null)
  assert.equal(parseWrk('unable to connect to 127.0.0.1:1 Connection refused'), null)
  assert.throws(() => parseWrk(wrkReport('1.00fortnights', '2.00ms', '5 requests in 1.60s')), /unknown unit/)
})

test('wrk: called as a document calls it, times in ms', { skip }, async () => {
  install('wrk', wrkReport('267.00us', '4.19ms', '559420 requests in 3.00s'))
  const { p50, p95, p99, mean, requests, fault, bytesReceived } = await run('wrk')
  // Its mean is corrected for what it supposes, so it is not told.
  assert.deepEqual([p50, p95, p99, mean, requests, fault], [0.267, null, 4.19, null, 559_420, null])
  assert.ok(Math.abs(Number(bytesReceived) - 78.96 * 2 ** 20) < 1)
  assert.equal(given(), '--threads 1 --connections 100 --latency --duration 7s http://127.0.0.1:3000/json')
})

test('wrk: with pipelining its latencies are not told', { skip }, async () => {
  install('wrk', wrkReport('267.00us', '4.19ms', '559420 requests in 3.00s'))
  const { p50, p99, mean, requests } = await run('wrk', loadOf('ramapi-json', 'pipelined'))
  assert.deepEqual([p50, p99, mean, requests], [null, null, null, 559_420])
  assert.match(given(), / --script \S+requests\.lua http/)
})

test('autocannon: errors, times in ms and bytes are read', { skip }, async () => {
  install('autocannon', autocannonReport)
  const { command, ...result } = await run('autocannon')
  assert.deepEqual(result, {
    requests: 90_000,
    replies: 90_000,
    seconds: 3.01,
    p50: 3,
    p95: null,
    p99: 7,
    p999: 21,
    mean: 3.1,
    worst: 41,
    bytesReceived: 15_000_000,
    errors: 2,
    non2xx: 0,
    meanInFlight: null,
    unfinished: 0,
    withinLimit: null,
    lateSends: 0,
    longestQueue: 0,
    ungreeted: 0,
    fault: null,
    gaveUp: null,
    histogram: null,
  })
  assert.match(command, /^autocannon --json --connections 100 --pipelining 1 --duration 7 --method GET http/)
})

test('oha: seconds become ms, what the deadline cut off is no error', { skip }, async () => {
  install('oha', ohaReport)
  const { p50, p95, p99, p999, mean, worst, errors, requests, seconds } = await run(
    'oha',
    loadOf('ramapi-json'),
    500,
  )
  assert.deepEqual([p50, p95, p99, p999, mean, worst], [2, 5, 9, 20, 2, 40])
  assert.deepEqual([errors, requests, seconds], [3, 100_000, 2.5])
  assert.match(given(), /-z 2s -m GET -q 500 --latency-correction http/)
})

test(
  '429s that they count as replies are a fault, unless the scenario asks for refusals',
  { skip },
  async () => {
    install('wrk', wrkReport('1.00ms', '2.00ms', '5 requests in 1.60s', '  Non-2xx or 3xx responses: 17\n'))
    assert.equal((await run('wrk')).fault, '17 replies that were not 2xx')
    assert.equal((await run('wrk', loadOf('ramapi-create', 'fixed body (409)'))).fault, null)
    install('autocannon', autocannonReport.replace('"non2xx":0', '"non2xx":90000'))
    assert.equal((await run('autocannon')).fault, '90000 replies that were not 2xx')
    install('oha', ohaReport.replace('"200":100000', '"200":1,"429":99999'))
    assert.equal((await run('oha')).fault, '99999 replies that were not 2xx')
  },
)

test('what they cannot do is refused, exit code 2', { skip }, async () => {
  install('wrk', '')
  const refused: [Promise<LoadResult>, RegExp][] = [
    [run('wrk', loadOf('ramapi-json'), 100), /^wrk has no open loop: use --generator load$/],
    [run('autocannon', loadOf('ramapi-json'), 100), /^autocannon has no open loop/],
    [run('oha', loadOf('ramapi-json', 'pipelined')), /^oha has no pipelining/],
    [run('wrk', loadOf('zapjs-mixed')), /^wrk can only repeat one request on open connections/],
    [run('wrk', loadOf('routes')), /^wrk can only repeat one request/],
    [run('wrk', loadOf('short-lived')), /^wrk can only repeat one request/],
  ]
  for (const [result, message] of refused) await assert.rejects(result, { message, exitCode: 2 })
})

test('one that dies, or prints no report, is told with its last line and its command', { skip }, async () => {
  for (const name of ['wrk', 'autocannon', 'oha'] as const) {
    install(name, 'first\nunable to connect\n', 1)
    await assert.rejects(run(name), {
      message: new RegExp(`^${name} failed: unable to connect; run it by hand to see more: ${name} `),
      exitCode: 2,
    })
  }
})
