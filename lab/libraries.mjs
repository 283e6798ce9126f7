/**
 * What own code costs beside the library that could do the same, in instructions for one call:
 * `node lab/libraries.mjs [NAME …]`, the figures of docs/decisions/0013-what-libraries-do.md. Needs compiled packages,
 * valgrind and npm, which installs the libraries below `.cache`.
 *
 * Each way runs under callgrind with two numbers of calls; the difference leaves out start and compilation, mostly.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, openSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createHistogram } from 'node:perf_hooks'
import { setImmediate as turn } from 'node:timers/promises'
import { root } from '../scripts/command.mjs'

const versions = {
  'sonic-boom': '5.0.2',
  negotiator: '1.1.0',
  'proxy-addr': '2.0.8',
  fresh: '2.0.0',
  'content-disposition': '2.0.1',
}
const folder = join(root, '.cache/libraries')
const library = (name) => createRequire(join(folder, 'package.json'))(name)
const own = (path) => import(join(root, `packages/volant/dist/src/${path}.js`))

const line = `{"level":30,"time":1790000000000,"pid":4711,"hostname":"host","reqId":"abc-1234","req":{"method":"GET",\
"url":"/users/42?x=1","remoteAddress":"127.0.0.1"},"res":{"statusCode":200},"responseTime":0.12,"msg":"completed"}\n`
const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
const forwardedFor = '203.0.113.7, 10.0.0.9'
const since = 'Sun, 06 Nov 1994 08:49:37 GMT'

/** By name: what gives the function that is called. It may be called with the number of the call. */
const ways = {
  'log line, own': async () => {
    const { openDestination } = await own('middleware/log-destination')
    const destination = openDestination('/dev/null')
    return () => destination.write(line)
  },
  'log line, sonic-boom of texts': () => {
    const boom = sonicBoom(4_096, 'utf8')
    return () => boom.write(line)
  },
  'log line, sonic-boom of buffers': () => {
    const boom = sonicBoom(65_536, 'buffer')
    return () => boom.write(Buffer.from(line))
  },
  'duration, own': async () => {
    const latency = new (await own('plugins/latency')).Latency()
    return (at) => latency.add((at % 977) * 0.0371)
  },
  'duration, perf_hooks': () => {
    const histogram = createHistogram({ lowest: 1, highest: 2 ** 31, figures: 2 })
    return (at) => histogram.record(Math.max(1, Math.round((at % 977) * 37.1)))
  },
  'Accept, own': async () => {
    const { acceptedType } = await own('request/accepts')
    return () => acceptedType(accept, ['json', 'html'])
  },
  'Accept, negotiator': () => {
    const Negotiator = library('negotiator')
    return () => new Negotiator({ headers: { accept } }).mediaTypes(['application/json', 'text/html'])[0]
  },
  'proxies, own': async () => {
    const { originOf } = await own('request/forwarded')
    const trust = (await own('request/trust')).resolveTrust(['loopback', 'private'])
    const header = (name) => (name === 'x-forwarded-for' ? forwardedFor : undefined)
    return () => originOf({ remoteAddress: '127.0.0.1', header, authority: 'example.test' }, trust).ip
  },
  'proxies, proxy-addr': () => {
    const addressOf = library('proxy-addr')
    const trusts = addressOf.compile(['loopback', 'uniquelocal'])
    const socket = { remoteAddress: '127.0.0.1' }
    return () =>
      addressOf({ socket, connection: socket, headers: { 'x-forwarded-for': forwardedFor } }, trusts)
  },
  'conditions, own': async () => {
    const { checkConditions } = await own('reply/conditional')
    const header = (name) => (name === 'if-modified-since' ? since : undefined)
    return () => checkConditions({ header }, { etag: '"1"', modified: Date.parse(since) })
  },
  'conditions, fresh': () => {
    const fresh = library('fresh')
    return () => fresh({ 'if-modified-since': since }, { etag: '"1"', 'last-modified': since })
  },
  'disposition, own': async () => {
    const { attachment } = await own('reply/disposition')
    return () => attachment('/files/Ünïcode 1.pdf')
  },
  'disposition, content-disposition': () => {
    const { create } = library('content-disposition')
    return () => create('/files/Ünïcode 1.pdf')
  },
}

const [name, count] = process.argv[2] === '--run' ? process.argv.slice(3) : []
if (name !== undefined) await run(await ways[name](), Number(count))
else measure(process.argv.slice(2))

async function run(call, times) {
  for (let at = 0; at < times; at++) {
    call(at)
    if (at % 1_000 === 0) await turn()
  }
}

function measure(names) {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"private":true}')
  const list = Object.entries(versions).map((pair) => pair.join('@'))
  execFileSync('npm', ['install', '--no-audit', '--no-fund', ...list], { cwd: folder })
  for (const way of Object.keys(ways)) {
    if (names.length > 0 && !names.some((each) => way.includes(each))) continue
    // What costs little is called more often, so that compiling it does not count.
    const counts = way.startsWith('duration') ? [100_000, 600_000] : [10_000, 40_000]
    const [few, many] = counts.map((times) => instructions(way, times))
    console.log(`${way}: ${Math.round((many - few) / (counts[1] - counts[0])).toLocaleString('en-US')}`)
  }
}

function instructions(way, times) {
  const valgrind = ['--tool=callgrind', '--callgrind-out-file=/dev/null', '--smc-check=all-non-file']
  const node = [process.execPath, '--single-threaded', import.meta.filename, '--run', way, String(times)]
  const { stderr } = spawnSync('valgrind', [...valgrind, ...node], { encoding: 'utf8' })
  const collected = /Collected : (\d+)/.exec(stderr)?.[1]
  if (collected === undefined || /Error:/.test(stderr)) throw new Error(stderr)
  return Number(collected)
}

function sonicBoom(minLength, contentMode) {
  const { SonicBoom } = library('sonic-boom')
  return new SonicBoom({
    fd: openSync('/dev/null', 'a'),
    minLength,
    maxWrite: minLength + 16_384,
    contentMode,
  })
}
