import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseWrk } from '../src/wrk.ts'

function report(p50: string, p99: string, total: string, extra = ''): string {
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

test('a report without errors', () => {
  assert.deepEqual(parseWrk(report('267.00us', '4.19ms', '559420 requests in 3.00s')), {
    requests: 559_420,
    seconds: 3,
    requestsPerSecond: 186_320.24,
    p50: 267,
    p99: 4190,
    non2xx: 0,
    socketErrors: 0,
  })
})

test('times in every unit', () => {
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
    const result = parseWrk(report(text, text, `1 requests in ${text}`))
    assert.equal(result?.p50, expected, text)
    assert.equal(result?.p99, expected, text)
    assert.equal(result?.seconds, expected / 1e6, text)
  }
})

test('errors are counted', () => {
  const extra =
    '  Socket errors: connect 1, read 20, write 300, timeout 4000\n  Non-2xx or 3xx responses: 17\n'
  const result = parseWrk(report('1.00ms', '2.00ms', '5 requests in 1.60s', extra))
  assert.equal(result?.socketErrors, 4321)
  assert.equal(result?.non2xx, 17)
  assert.equal(result?.seconds, 1.6)
})

test('a report that is cut off or of an unknown shape is no result', () => {
  const whole = report('1.00ms', '2.00ms', '5 requests in 1.60s')
  assert.equal(parseWrk(''), null)
  assert.equal(parseWrk(whole.slice(0, whole.indexOf('Requests/sec'))), null)
  assert.equal(parseWrk('unable to connect to 127.0.0.1:1 Connection refused'), null)
  assert.throws(() => parseWrk(report('1.00fortnights', '2.00ms', '5 requests in 1.60s')), /unknown unit/)
})
