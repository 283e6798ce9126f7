/**
 * What it costs to write a reply as JSON, in ns of processor time: `node lab/serializers.mjs [--all] [--rounds 15]`,
 * the figures of docs/decisions/0009-serializers.md. Needs compiled packages and a quiet machine; `--all` runs the
 * versions of scripts/nodes.mjs one after the other. `--way walk --calls 90000` only calls one way (`walk`, `projection` or
 * `JSON`) for five properties, to be run twice by `valgrind --tool=callgrind --smc-check=all-non-file`: the difference is
 * what its calls take in instructions.
 *
 * Each figure is the median of rounds in which the ways take turns, forwards and backwards, in one process. The text is
 * written into a buffer as the engine does it: a serializer that joins strings leaves that work to whoever reads them.
 */
import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { root } from '../scripts/command.mjs'
import { bring, versions } from '../scripts/nodes.mjs'

const { values: options } = parseArgs({
  options: {
    all: { type: 'boolean' },
    rounds: { type: 'string', default: '15' },
    way: { type: 'string' },
    calls: { type: 'string', default: '30000' },
  },
})
const rounds = Number(options.rounds)
/** Of one way in one round, about. */
const roundTime = 4e6
const buffer = Buffer.alloc(1 << 20)
let written = 0

if (options.all) await measureAll()
else if (options.way !== undefined) await call(options.way, Number(options.calls))
else await measureHere()

async function measureAll() {
  for (const version of Object.values(versions)) {
    const binary = version === process.versions.node ? process.execPath : await bring(version)
    const args = [import.meta.filename, '--rounds', options.rounds]
    const { status } = spawnSync(binary, args, { cwd: root, stdio: 'inherit' })
    if (status !== 0) process.exitCode = 1
  }
}

async function measureHere() {
  const compiled = join(root, 'packages/volant/dist/src/schema/strip')
  const { serializerFor } = await import(join(compiled, 'serializer.js'))
  const { strip } = await import(join(compiled, 'strip.js'))
  const fastJSON = createRequire(import.meta.url)('fast-json-stringify')
  const waysOf = (schema, declared) => ({
    // The least that there is to do: what it would send of the value itself is another text.
    'JSON.stringify': () => JSON.stringify(declared),
    'fast-json-stringify': fastJSON(schema),
    'walk, JSON.stringify': (value) => JSON.stringify(strip(value, schema)),
    'projection, JSON.stringify': serializerFor(schema, { alreadyStripped: false }),
  })
  const ways = Object.keys(waysOf({}))
  for (const isFull of [false, true]) {
    console.log(
      `\nNode.js ${process.version}, ${isFull ? 'one undeclared property in each object' : 'all declared'}\n`,
    )
    console.log(`| value | characters | ${ways.join(' | ')} |`)
    console.log(`|---|---:|${'---:|'.repeat(ways.length)}`)
    for (const [name, [schema, declared]] of Object.entries(shapes())) {
      const value = parsed(isFull ? withSecret(declared) : declared)
      const text = JSON.stringify(declared)
      const medians = compare(waysOf(schema, parsed(declared)), value, text.length)
      const cells = Object.values(medians).map((ns) =>
        ns === null ? 'throws' : `${ns.toFixed(0)} (${(ns / medians['JSON.stringify']).toFixed(2)})`,
      )
      console.log(`| ${name} | ${text.length} | ${cells.join(' | ')} |`)
    }
  }
  console.log(`\nNode.js ${process.version}: the first call of a serializer for ten properties\n`)
  console.log('| | µs | KiB kept |\n|---|---:|---:|')
  for (const way of ways.slice(1)) {
    const { microseconds, kibibytes } = firstCalls((schema) =>
      waysFor(way, { serializerFor, strip, fastJSON }, schema),
    )
    console.log(`| ${way} | ${microseconds.toFixed(0)} | ${kibibytes.toFixed(1)} |`)
  }
}

async function call(way, calls) {
  const compiled = join(root, 'packages/volant/dist/src/schema/strip')
  const { serializerFor } = await import(join(compiled, 'serializer.js'))
  const { strip } = await import(join(compiled, 'strip.js'))
  const [schema, declared] = shapes()['5 properties']
  const ways = {
    JSON: JSON.stringify,
    walk: (value) => JSON.stringify(strip(value, schema)),
    projection: serializerFor(schema, { alreadyStripped: false }),
  }
  const value = parsed(withSecret(declared))
  for (let at = 0; at < calls; at++) written += ways[way](value).length
}

/** Or as a database gives it: not a literal whose shape the compiler of a loop knows. */
function parsed(value) {
  return JSON.parse(JSON.stringify(value))
}

/** One of the ways alone, since making it is what is measured. */
function waysFor(way, { serializerFor, strip, fastJSON }, schema) {
  if (way.startsWith('fast')) return fastJSON(schema)
  if (way.startsWith('walk')) return (value) => JSON.stringify(strip(value, schema))
  return serializerFor(schema, { alreadyStripped: false })
}

function compare(ways, value, length) {
  const names = Object.keys(ways).filter((name) => !throws(ways[name], value))
  const calls = Math.max(20, Math.ceil(roundTime / (2 * length + 200)))
  const times = Object.fromEntries(names.map((name) => [name, []]))
  for (let round = -3; round < rounds; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const ns = time(ways[name], value, calls)
      if (round >= 0) times[name].push(ns)
    }
  }
  return Object.fromEntries(
    Object.keys(ways).map((name) => [name, names.includes(name) ? median(times[name]) : null]),
  )
}

function throws(serialize, value) {
  try {
    serialize(value)
    return false
  } catch {
    return true
  }
}

function time(serialize, value, calls) {
  const start = process.cpuUsage()
  for (let call = 0; call < calls; call++) written += buffer.utf8Write(serialize(value), 0)
  const { user, system } = process.cpuUsage(start)
  return ((user + system) * 1000) / calls
}

function median(all) {
  return all.sort((a, b) => a - b)[all.length >> 1]
}

function firstCalls(make) {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc')
  const count = 500
  const schemas = Array.from({ length: count }, (_, at) => flat(10, `field${at}of`))
  const kept = []
  const [schema, value] = flat(10)
  make(schema)(value)
  collect()
  const heap = process.memoryUsage().heapUsed
  const start = process.hrtime.bigint()
  for (const [schema, value] of schemas) {
    const serialize = make(schema)
    written += serialize(value).length
    kept.push(serialize)
  }
  const microseconds = Number(process.hrtime.bigint() - start) / 1000 / count
  collect()
  return { microseconds, kibibytes: (process.memoryUsage().heapUsed - heap) / 1024 / kept.length }
}

function withSecret(value) {
  if (Array.isArray(value)) return value.map(withSecret)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([name, member]) => [name, withSecret(member)])
  return { ...Object.fromEntries(members), secret: 'of no business' }
}

function object(properties, optional = []) {
  const required = Object.keys(properties).filter((name) => !optional.includes(name))
  return { type: 'object', properties, required, additionalProperties: false }
}

function flat(count, prefix = 'field') {
  const kinds = [
    [{ type: 'integer' }, (at) => at * 1237],
    [{ type: 'string' }, (at) => `value ${at}`],
    [{ type: 'boolean' }, (at) => at % 2 === 0],
    [{ type: 'string' }, () => 'Ada Lovelace'],
    [{ type: 'number' }, (at) => at + 0.5],
  ]
  const each = Array.from({ length: count }, (_, at) => [`${prefix}${at}`, ...kinds[at % kinds.length], at])
  return [
    object(Object.fromEntries(each.map(([name, schema]) => [name, schema]))),
    Object.fromEntries(each.map(([name, , make, at]) => [name, make(at)])),
  ]
}

/** Schema and value by name. */
function shapes() {
  const [text, whole, float, flag] = ['string', 'integer', 'number', 'boolean'].map((type) => ({ type }))
  const list = (items) => ({ type: 'array', items })
  const of = (count, make) => Array.from({ length: count }, (_, at) => make(at))
  const user = object({ id: whole, name: text, email: text, active: flag, role: text })
  const ada = (id) => ({
    id,
    name: 'Ada Lovelace',
    email: `ada${id}@example.com`,
    active: true,
    role: 'admin',
  })
  const address = object({ street: text, city: text, zip: text })
  const cat = object({ kind: { const: 'cat' }, lives: whole })
  const dog = object({ kind: { const: 'dog' }, tricks: list(text) })
  const one = (schema, value) => [object({ value: schema }), { value }]
  return {
    hello: [object({ message: text }), { message: 'Hello, World!' }],
    '5 properties': flat(5),
    '10 properties': flat(10),
    '20 properties': flat(20),
    nested: [
      object({ id: whole, author: object({ id: whole, name: text, address }), tags: list(text) }),
      {
        id: 1,
        author: { id: 2, name: 'Ada', address: { street: '12 Long Road', city: 'London', zip: 'W1' } },
        tags: ['a', 'bb', 'ccc'],
      },
    ],
    '2 of 6 optional': [
      object({ id: whole, a: text, b: text, c: whole, d: text, e: flag }, ['a', 'b', 'c', 'd', 'e']),
      { id: 1, b: 'present', e: true },
    ],
    '10 records': [object({ items: list(user), total: whole }), { items: of(10, ada), total: 10 }],
    '200 records': [object({ items: list(user), total: whole }), { items: of(200, ada), total: 200 }],
    '10 of a union': [
      list({ anyOf: [cat, dog] }),
      of(10, (at) => (at % 2 === 0 ? { kind: 'cat', lives: 9 } : { kind: 'dog', tricks: ['sit'] })),
    ],
    '100 integers': one(
      list(whole),
      of(100, (at) => at * 137),
    ),
    '100 floats': one(
      list(float),
      of(100, (at) => at * 1.37),
    ),
    '100 short strings': one(
      list(text),
      of(100, (at) => `tag-${at}`),
    ),
    'text of 20': one(text, 'x'.repeat(20)),
    'text of 200': one(text, 'lorem ipsum '.repeat(17)),
    'text of 1,000': one(text, 'lorem ipsum '.repeat(84)),
    'text of 16,000': one(text, 'lorem ipsum '.repeat(1334)),
    'text with escapes': one(text, 'line "one"\nline two\\ '.repeat(40)),
    'text beyond ASCII': one(text, 'Grüße aus Köln – ✓ '.repeat(40)),
    'text with emoji': one(text, 'hi 👋 there '.repeat(20)),
  }
}
