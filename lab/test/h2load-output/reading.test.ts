/** The output of h2load 1.52 is read, and results that cannot be right are faults. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type H2loadReport,
  type H2loadRun,
  faultOf,
  parseH2load,
  repliesOf,
} from '../../src/generators/h2load-output.ts'
import { h2 } from './reports.ts'

/**
 * The arguments were --clients 5 --max-concurrent-streams 1 --warm-up-time 300ms --duration 500ms --h1; the server was
 * node:https.
 */
const overTls = `starting benchmark...
spawning thread #0: 5 total client(s). Timing-based test with 0.3s of warm-up time and 0.5s of main duration for measurements.
Warm-up started for thread #0.
TLS Protocol: TLSv1.3
Cipher: TLS_AES_256_GCM_SHA384
Server Temp Key: ECDH prime256v1 256 bits
Application protocol: http/1.1
Warm-up phase is over for thread #0.
Main benchmark duration is started for thread #0.
Main benchmark duration is over for thread #0. Stopping all clients.
Stopped all clients for thread #0

finished in 826.94ms, 2820.00 req/s, 495.70KB/s
requests: 1410 total, 1410 started, 1410 done, 1410 succeeded, 0 failed, 0 errored, 0 timeout
status codes: 1410 2xx, 0 3xx, 0 4xx, 0 5xx
traffic: 247.85KB (253800) total, 160.29KB (164140) headers (space savings 0.00%), 34.55KB (35375) data
                     min         max         mean         sd        +/- sd
time for request:      171us     82.79ms      1.79ms      6.46ms    98.16%
time for connect:        0us         0us         0us         0us     0.00%
time to 1st byte:        0us         0us         0us         0us     0.00%
req/s           :     553.20      565.29      559.20        5.13    60.00%
`

/**
 * The arguments were --clients 5 --max-concurrent-streams 10 --warm-up-time 1000ms --duration 500ms; the server was
 * nghttpd.
 */
const h2c = `starting benchmark...
spawning thread #0: 5 total client(s). Timing-based test with 1s of warm-up time and 0.5s of main duration for measurements.
Warm-up started for thread #0.
Application protocol: h2c
Warm-up phase is over for thread #0.
Main benchmark duration is started for thread #0.
Main benchmark duration is over for thread #0. Stopping all clients.
Stopped all clients for thread #0

finished in 1.50s, 118660.00 req/s, 6.11MB/s
requests: 59330 total, 59330 started, 59330 done, 59330 succeeded, 0 failed, 0 errored, 0 timeout
status codes: 59330 2xx, 0 3xx, 0 4xx, 0 5xx
traffic: 3.06MB (3203935) total, 1.99MB (2088345) headers (space savings 93.95%), 4.52MB (4744750) data
                     min         max         mean         sd        +/- sd
time for request:       63us      4.91ms       405us       220us    91.96%
time for connect:        0us         0us         0us         0us     0.00%
time to 1st byte:        0us         0us         0us         0us     0.00%
req/s           :   23693.16    23775.63    23726.93       43.76    60.00%
`

/** The server resets one of 500 streams, and replies to one of 700 with status 500. */
const errors = `starting benchmark...
spawning thread #0: 5 total client(s). Timing-based test with 0.3s of warm-up time and 0.5s of main duration for measurements.
Warm-up started for thread #0.
Application protocol: h2c
Warm-up phase is over for thread #0.
Main benchmark duration is started for thread #0.
Main benchmark duration is over for thread #0. Stopping all clients.
Stopped all clients for thread #0

finished in 800.68ms, 10938.00 req/s, 481.18KB/s
requests: 5480 total, 5480 started, 5480 done, 5462 succeeded, 18 failed, 11 errored, 0 timeout
status codes: 5462 2xx, 0 3xx, 0 4xx, 7 5xx
traffic: 240.59KB (246363) total, 12.82KB (13126) headers (space savings 95.27%), 157.42KB (161200) data
                     min         max         mean         sd        +/- sd
time for request:      246us     66.42ms      4.93ms      8.36ms    93.62%
time for connect:        0us         0us         0us         0us     0.00%
time to 1st byte:        0us         0us         0us         0us     0.00%
req/s           :    2135.51     2217.42     2187.11       33.08    80.00%
`

/** The path does not exist. */
const missing = `starting benchmark...
spawning thread #0: 5 total client(s). Timing-based test with 0.1s of warm-up time and 0.5s of main duration for measurements.
Warm-up started for thread #0.
TLS Protocol: TLSv1.3
Cipher: TLS_AES_256_GCM_SHA384
Server Temp Key: ECDH prime256v1 256 bits
Application protocol: h2
Warm-up phase is over for thread #0.
Main benchmark duration is started for thread #0.
Main benchmark duration is over for thread #0. Stopping all clients.
Stopped all clients for thread #0

finished in 556.01ms, 49360.00 req/s, 8.29MB/s
requests: 24680 total, 24680 started, 24680 done, 0 succeeded, 24680 failed, 0 errored, 0 timeout
status codes: 0 2xx, 0 3xx, 24680 4xx, 0 5xx
traffic: 4.14MB (4343795) total, 273.74KB (280310) headers (space savings 91.92%), 3.95MB (4142520) data
                     min         max         mean         sd        +/- sd
time for request:      114us     93.45ms       994us      4.19ms    99.80%
time for connect:        0us         0us         0us         0us     0.00%
time to 1st byte:        0us         0us         0us         0us     0.00%
req/s           :    9827.74     9885.17     9860.35       23.93    60.00%
`

/** The server chooses another cipher suite. */
const other = `starting benchmark...
spawning thread #0: 5 total client(s). Timing-based test with 0.3s of warm-up time and 0.5s of main duration for measurements.
Warm-up started for thread #0.
TLS Protocol: TLSv1.3
Cipher: TLS_AES_128_GCM_SHA256
Server Temp Key: ECDH prime256v1 256 bits
Application protocol: http/1.1
Warm-up phase is over for thread #0.
Main benchmark duration is started for thread #0.
Main benchmark duration is over for thread #0. Stopping all clients.
Stopped all clients for thread #0

finished in 800.76ms, 2790.00 req/s, 490.43KB/s
requests: 1395 total, 1395 started, 1395 done, 1395 succeeded, 0 failed, 0 errored, 0 timeout
status codes: 1395 2xx, 0 3xx, 0 4xx, 0 5xx
traffic: 245.21KB (251100) total, 314.92KB (322480) headers (space savings 0.00%), 67.87KB (69500) data
                     min         max         mean         sd        +/- sd
time for request:      140us     97.72ms      2.00ms      8.76ms    97.85%
time for connect:        0us         0us         0us         0us     0.00%
time to 1st byte:        0us         0us         0us         0us     0.00%
req/s           :     551.75      565.78      557.76        6.60    80.00%
`

/** No server listens. The output does not say so. */
const none = `starting benchmark...
spawning thread #0: 5 total client(s). Timing-based test with 0.1s of warm-up time and 0.5s of main duration for measurements.
Warm-up started for thread #0.
Warm-up phase is over for thread #0.
Main benchmark duration is started for thread #0.
Main benchmark duration is over for thread #0. Stopping all clients.
Stopped all clients for thread #0

finished in 600.53ms, 0.00 req/s, 0B/s
requests: 0 total, 0 started, 0 done, 0 succeeded, 0 failed, 0 errored, 0 timeout
status codes: 0 2xx, 0 3xx, 0 4xx, 0 5xx
traffic: 0B (0) total, 0B (0) headers (space savings 0.00%), 0B (0) data
                     min         max         mean         sd        +/- sd
time for request:        0us         0us         0us         0us     0.00%
time for connect:        0us         0us         0us         0us     0.00%
time to 1st byte:        0us         0us         0us         0us     0.00%
req/s           :       0.00        0.00        0.00        0.00     0.00%
`

const report = (output: string): H2loadReport => parseH2load(output) as H2loadReport

const run = (changes: Partial<H2loadRun> = {}): H2loadRun => ({
  transport: 'h2',
  load: { connections: 5, pipelining: 10 },
  length: 25,
  alive: 5,
  ...changes,
})

test('HTTP/1.1 over TLS, h2c, and HTTP/2 over TLS are read', () => {
  const none = { failed: 0, errored: 0, timedOut: 0, non2xx: 0 }
  const figures = (output: string): Partial<H2loadReport> => {
    const { succeeded, failed, errored, timedOut, non2xx, received, bodies } = report(output)
    return { succeeded, failed, errored, timedOut, non2xx, received, bodies }
  }
  assert.deepEqual(figures(overTls), { ...none, succeeded: 1_410, received: 253_800, bodies: 35_375 })
  assert.deepEqual(figures(h2c), { ...none, succeeded: 59_330, received: 3_203_935, bodies: 4_744_750 })
  assert.deepEqual(figures(h2), { ...none, succeeded: 31_900, received: 1_722_715, bodies: 1_502_500 })
  const all = [[overTls, 'https'] as const, [h2c, 'h2c'] as const, [h2, 'h2'] as const]
  for (const [output, transport] of all) assert.equal(faultOf(report(output), run({ transport })), null)
})

test('a report that is cut off is none', () => {
  for (const at of ['requests:', 'status codes:', 'traffic:', 'headers']) {
    assert.equal(parseH2load(h2.slice(0, h2.indexOf(at))), null, at)
  }
  assert.equal(parseH2load(''), null)
})

test('the total is that of the window, the bytes of bodies are those of the warm-up too', () => {
  // Each reply of nghttpd has two frame heads, 11 bytes of fields and 25 bytes of JSON.
  const { received, succeeded, bodies } = report(h2c)
  assert.equal(Math.round(received / succeeded), 9 + 11 + 9 + 25)
  assert.ok(bodies > 3 * 25 * succeeded, 'a warm-up that is twice as long as the window')
  assert.deepEqual(repliesOf(report(h2c), run()), { replies: 189_790, handledAtMost: 189_790 + 50 })
})

test('failed requests, other statuses and closed connections are faults', () => {
  const { failed, errored, non2xx } = report(errors)
  assert.deepEqual([failed, errored, non2xx], [18, 11, 7])
  assert.equal(faultOf(report(errors), run({ transport: 'h2c' })), '7 replies that were not 2xx')
  const reset = errors.replace('18 failed', '11 failed').replace('7 5xx', '0 5xx')
  assert.equal(faultOf(report(reset), run({ transport: 'h2c' })), '11 of 5473 requests failed')
  assert.equal(faultOf(report(missing), run()), '24680 replies that were not 2xx')
  assert.equal(faultOf(report(h2), run({ alive: 4 })), '4 of 5 connections were open in the window')
  assert.equal(faultOf(report(h2), run({ alive: null })), null)
})

test('another cipher, group or protocol than was asked for is a fault', () => {
  const fault = (output: string, transport: H2loadRun['transport']) =>
    faultOf(report(output), run({ transport }))
  const suite = 'TLS_AES_256_GCM_SHA384'
  assert.equal(fault(other, 'https'), `TLS_AES_128_GCM_SHA256 was agreed on as cipher, and not ${suite}`)
  assert.equal(fault(h2, 'https'), 'h2 was agreed on as application, and not http/1.1')
  assert.equal(fault(overTls, 'h2'), 'http/1.1 was agreed on as application, and not h2')
  assert.equal(fault(h2c, 'h2'), 'h2c was agreed on as application, and not h2')
  assert.equal(fault(h2c, 'http'), 'h2c was agreed on as application, and not http/1.1')
  assert.equal(
    fault(h2.replace('TLSv1.3', 'TLSv1.2'), 'h2'),
    'TLSv1.2 was agreed on as protocol, and not TLSv1.3',
  )
  assert.equal(
    fault(h2.replace('ECDH prime256v1 256 bits', 'X25519 253 bits'), 'h2'),
    'X25519 253 bits was agreed on as key, and not P-256',
  )
  assert.match(String(fault(h2.replace(/^Cipher.*\n/m, ''), 'h2')), /^nothing was agreed on as cipher/)
})

test('nothing answered is no wrong reply', () => {
  assert.equal(report(none).succeeded, 0)
  assert.equal(faultOf(report(none), run({ alive: 0 })), null)
})

test('bodies that are too short are a fault, and more runs of the handler than replies can have had', () => {
  assert.match(
    String(faultOf(report(overTls), run({ transport: 'https', length: 26 }))),
    /^1410 replies had 35375 bytes, not 26 each$/,
  )
  const { replies, handledAtMost } = repliesOf(report(h2), run())
  assert.deepEqual([replies, handledAtMost], [60_100, 60_150])
  assert.deepEqual(repliesOf(report(h2), run({ length: null })), { replies: 31_900 })
})
