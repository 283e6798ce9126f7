/**
 * What own code costs beside the library that could do the same, in instructions for one call:
 * `node lab/libraries.mjs [NAME …]`, the figures of docs/decisions/0013-what-libraries-do.md. Needs compiled packages,
 * valgrind, npm and cargo. What libraries decide otherwise is told by `node lab/library-differences.mjs`.
 *
 * Each way runs under callgrind with two numbers of calls; the difference leaves out start and compilation, mostly.
 */
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, openSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createHistogram } from 'node:perf_hooks'
import { setImmediate as turn } from 'node:timers/promises'
import { root } from '../scripts/command.mjs'
import { install, library, own as compiled, versions } from './library-versions.mjs'

const own = (path) => compiled(`src/${path}`)
/** Loads what the framework depends on already. */
const present = createRequire(join(root, 'packages/volant/package.json'))

const crate = join(root, '.cache/libraries/hdrhistogram')

const line = `{"level":30,"time":1790000000000,"pid":4711,"hostname":"host","reqId":"abc-1234","req":{"method":"GET",\
"url":"/users/42?x=1","remoteAddress":"127.0.0.1"},"res":{"statusCode":200},"responseTime":0.12,"msg":"completed"}\n`
const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
const forwardedFor = '203.0.113.7, 10.0.0.9'
const since = 'Sun, 06 Nov 1994 08:49:37 GMT'

const origin = 'http://a.test'
const contentType = 'application/json; charset=utf-8'
const ended = { status: 200, duration: 0.12, aborted: false, error: undefined }
const buckets = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
]
const person = {
  type: 'object',
  properties: {
    id: { type: 'integer' },
    name: { type: 'string' },
    email: { type: 'string' },
    active: { type: 'boolean' },
    score: { type: 'number' },
  },
  required: ['id', 'name'],
}
const people = (at) => ({ id: at, name: 'Ada', email: 'ada@a.test', active: true, score: 0.5, secret: 'x' })

/** By name: what gives the function that is called. It may be called with the number of the call. */
const ways = {
  'log line, own': async () => {
    const { openDestination } = await own('log/destination')
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
  'request logged, own': async () => {
    const { LogLine, usualFields } = await own('middleware/log-line')
    const { redactionOf } = await own('log/redact')
    const { openDestination } = await own('log/destination')
    const destination = openDestination('/dev/null')
    const log = new LogLine({
      fields: usualFields,
      headers: [],
      redaction: redactionOf(undefined),
      props: null,
    })
    const exchange = { query: 'x=1' }
    const ctx = { id: 'abc-1234', method: 'GET', path: '/users/42', ip: '127.0.0.1', exchange }
    const entry = { ctx, info: ended, level: 30, message: 'request completed', error: undefined }
    return () => destination.write(log.text(entry))
  },
  'request logged, pino': () => {
    const pino = library('pino')
    const log = pino({}, pino.destination({ dest: '/dev/null', minLength: 4_096, sync: true }))
    const req = { method: 'GET', url: '/users/42?x=1', remoteAddress: '127.0.0.1' }
    return () =>
      log.info({ reqId: 'abc-1234', req, res: { statusCode: 200 }, responseTime: 0.12 }, 'request completed')
  },
  'duration, own': async () => {
    const latency = new (await own('plugins/latency')).Latency()
    return (at) => latency.add((at % 977) * 0.0371)
  },
  'duration, perf_hooks': () => {
    const histogram = createHistogram({ lowest: 1, highest: 2 ** 31, figures: 2 })
    return (at) => histogram.record(Math.max(1, Math.round((at % 977) * 37.1)))
  },
  'metrics, own': async () => {
    const { metrics } = await own('plugins/metrics')
    const { metadataOf } = await own('dispatch/declare')
    const { onResponse } = metadataOf(metrics())
    const ctx = { method: 'GET', route: { pattern: '/users/:id' } }
    return (at) => onResponse(ctx, { ...ended, duration: (at % 977) * 0.0371 })
  },
  'metrics, prom-client': () => {
    const { Histogram } = library('prom-client')
    const labelNames = ['method', 'route', 'status']
    const histogram = new Histogram({ name: 'duration', help: 'Duration.', labelNames, buckets })
    return (at) =>
      histogram.observe({ method: 'GET', route: '/users/:id', status: '2xx' }, (at % 977) * 0.0000371)
  },
  'Content-Type, own': async () => {
    const { parseMediaType } = await own('request/media-type')
    return () => parseMediaType(contentType)
  },
  'Content-Type, own, never the same': async () => {
    const { parseMediaType } = await own('request/media-type')
    return (at) => parseMediaType(`${contentType}; a=${at}`)
  },
  'Content-Type, content-type': () => {
    const { parse } = library('content-type')
    return () => parse(contentType)
  },
  'Content-Type, content-type, never the same': () => {
    const { parse } = library('content-type')
    return (at) => parse(`${contentType}; a=${at}`)
  },
  'Content-Type, whatwg-mimetype': () => {
    const { MIMEType } = library('whatwg-mimetype')
    return () => new MIMEType(contentType)
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
  'security headers, own': async () => {
    const { securityHeaders } = await own('middleware/security-headers')
    const { metadataOf } = await own('dispatch/declare')
    const context = await contexts()
    const { gate } = metadataOf(securityHeaders())
    return () => gate(context())
  },
  'security headers, helmet': async () => inContext(library('helmet')(), await contexts()),
  'policy with a nonce, own': async () => {
    const { csp } = await own('middleware/csp')
    const { metadataOf } = await own('dispatch/declare')
    const context = await contexts()
    const { gate } = metadataOf(csp({ scriptSrc: ["'self'", "'nonce'"] }))
    return () => gate(context())
  },
  'policy with a nonce, helmet': async () => {
    const { contentSecurityPolicy } = library('helmet')
    const nonce = () => `'nonce-${randomBytes(16).toString('base64')}'`
    const directives = { defaultSrc: ["'self'"], scriptSrc: ["'self'", nonce] }
    return inContext(contentSecurityPolicy({ useDefaults: false, directives }), await contexts())
  },
  'declared reply, own': async () => {
    const check = validator(person, {})
    const { serializerFor } = await own('schema/strip/serializer')
    const serialize = serializerFor(person, { alreadyStripped: false })
    return (at) => {
      const value = people(at)
      return check(value) && serialize(value)
    }
  },
  'declared reply, Ajv with removeAdditional': () => {
    const check = validator(person, { removeAdditional: 'all' })
    return (at) => {
      const value = people(at)
      return check(value) && JSON.stringify(value)
    }
  },
  'tRPC query, own': async () => {
    const { createApp } = await own('index')
    const { procedure, router } = await own('procedures/index')
    const { trpc } = await own('procedures/trpc/index')
    const app = createApp({ signals: false })
    app.register(trpc(router({ one: procedure().query(() => ({ id: 1 })) })))
    return async () => (await app.fetch(new Request(`${origin}/trpc/one`))).text()
  },
  'tRPC query, @trpc/server': () => {
    const { initTRPC } = present('@trpc/server')
    const { fetchRequestHandler } = present('@trpc/server/adapters/fetch')
    const t = initTRPC.create()
    const router = t.router({ one: t.procedure.query(() => ({ id: 1 })) })
    return async () => {
      const req = new Request(`${origin}/trpc/one`)
      return (await fetchRequestHandler({ endpoint: '/trpc', req, router })).text()
    }
  },
}

/** These ways are compiled by cargo: the histogram of `lab/load`, and the crate that could do the same. */
const compiledWays = {
  'latency of the generator, own': 'own',
  'latency of the generator, hdrhistogram': 'crate',
}

const [name, count] = process.argv[2] === '--run' ? process.argv.slice(3) : []
if (name !== undefined) await run(await ways[name](), Number(count))
else measure(process.argv.slice(2))

async function run(call, times) {
  const isAsync = call.constructor === run.constructor
  for (let at = 0; at < times; at++) {
    if (isAsync) await call(at)
    else call(at)
    if (at % 1_000 === 0) await turn()
  }
}

function measure(names) {
  const measured = Object.keys({ ...ways, ...compiledWays }).filter(
    (way) => names.length === 0 || names.some((each) => way.includes(each)),
  )
  for (const name of Object.keys(versions)) if (measured.some((way) => way.includes(name))) install(name)
  if (measured.some((way) => way in compiledWays)) compileHistograms()
  for (const way of measured) {
    // What costs little is called more often, so that compiling it does not count.
    const counts = /^(?:duration|metrics|latency)/.test(way) ? [100_000, 600_000] : [10_000, 40_000]
    const [few, many] = counts.map((times) => instructions(way, times))
    console.log(`${way}: ${Math.round((many - few) / (counts[1] - counts[0])).toLocaleString('en-US')}`)
  }
}

function instructions(way, times) {
  const valgrind = ['--tool=callgrind', '--callgrind-out-file=/dev/null', '--smc-check=all-non-file']
  const command =
    way in compiledWays
      ? [join(crate, 'target/release/histograms'), compiledWays[way], String(times)]
      : [process.execPath, '--single-threaded', import.meta.filename, '--run', way, String(times)]
  const { stderr } = spawnSync('valgrind', [...valgrind, ...command], { encoding: 'utf8' })
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

/** Contexts of requests that nothing was done with. */
async function contexts() {
  const { LazyContext } = await own('context/lazy-context')
  return () => new LazyContext({ encrypted: false }, { trust: null }, {}, 0)
}

/** Express's middleware, whose headers become those of a context. */
function inContext(middleware, context) {
  return () => {
    const ctx = context()
    const response = { setHeader: (name, value) => void ctx.header(name, value), removeHeader() {} }
    middleware({}, response, () => {})
  }
}

function validator(schema, options) {
  const { default: Ajv } = present('ajv/dist/2020.js')
  return new Ajv(options).compile(schema)
}

function compileHistograms() {
  mkdirSync(join(crate, 'src'), { recursive: true })
  const dependency = 'hdrhistogram = { version = "=7.6.0", default-features = false }'
  writeFileSync(
    join(crate, 'Cargo.toml'),
    `[package]\nname = "histograms"\nedition = "2024"\n[workspace]\n[dependencies]\n${dependency}\n`,
  )
  const source = JSON.stringify(join(root, 'lab/load/src/load/histogram.rs'))
  writeFileSync(
    join(crate, 'src/main.rs'),
    `#[allow(dead_code)]
#[path = ${source}]
mod histogram;
fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let times: u64 = arguments[2].parse().unwrap();
    let values = (0..times).map(|at| (at * 7919) % 1_000_003 + 20_000);
    if arguments[1] == "own" {
        let mut histogram = histogram::Histogram::new();
        values.for_each(|value| histogram.record(value));
        println!("{:?}", histogram.percentile(99.0));
    } else {
        let mut histogram = hdrhistogram::Histogram::<u64>::new_with_bounds(1, 1 << 42, 3).unwrap();
        values.for_each(|value| histogram.saturating_record(value));
        println!("{}", histogram.value_at_percentile(99.0));
    }
}
`,
  )
  const { status } = spawnSync('cargo', ['build', '--release', '--quiet'], { cwd: crate, stdio: 'inherit' })
  if (status !== 0) throw new Error('cargo did not compile the histograms')
}
