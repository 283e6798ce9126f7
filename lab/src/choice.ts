/** What a command line asks for: scenarios, entries, Node.js versions, and how they are measured. */
import { type Arguments, type Options, count, names, oneOf, seconds } from './arguments.ts'
import type { GeneratorName } from './cell.ts'
import { chooseCores } from './cores.ts'
import { preferredBase } from './analysis.ts'
import { type Entry, entryOf, onNode, readEntries } from './entry.ts'
import { Failure } from './failure.ts'
import { needProgram } from './generators/generator.ts'
import type { Method } from './measures/measurement.ts'
import { hasExactCpu } from './readings.ts'
import { baseName } from './ours.ts'
import { atConnections } from './operating-points.ts'
import { nodeOf } from './runtimes.ts'
import type { Chosen } from './schedule.ts'
import { type Scenario, scenarioOf, variantOf } from './scenario.ts'
import { scenarios } from './scenarios/index.ts'

const generators: readonly GeneratorName[] = ['load', 'wrk', 'autocannon', 'oha']
/** Without exact CPU times a window needs this for an error below 1 %, in s. */
const coarseWindow = 2
/** s that are measured, unless a scenario says otherwise. */
const standardWindow = 1.5

/** What servers run on: `scripts/lab.mjs` brings it. */
export const versionOptions: Options = {
  node: { type: 'string' },
  'newer-glibc': { type: 'boolean' },
}

export const methodOptions: Options = {
  ...versionOptions,
  rounds: { type: 'string' },
  warmup: { type: 'string' },
  window: { type: 'string' },
  generator: { type: 'string' },
  port: { type: 'string' },
  connections: { type: 'string' },
  soak: { type: 'string' },
  seed: { type: 'string' },
}

export const methodHelp = `  --node 26,20      every Node.js entry on this version, or on each of these (26); fastify@20 is one entry on another
  --newer-glibc     brings the C library of Debian 13 and starts every Node.js entry with it
  --rounds N        interleaved rounds, each cell with a fresh process
  --warmup S        seconds of load before each window (what the scenario says, mostly 1)
  --window S        seconds measured (1.5, or what the scenario says)
  --generator NAME  load (ours), wrk, autocannon or oha; only load verifies replies
  --port N          servers listen here instead of on any free port; BENCH_PORT says the same
  --soak S          seconds of a memory soak (600)
  --seed N          of the order of entries`

/** Throws a `Failure` for what is out of bounds, or a generator that is missing. */
export function methodOf(
  args: Arguments,
  quick: boolean,
  standard: { warmup?: number; window?: number } = {},
): Method {
  if (process.platform !== 'linux') throw new Failure('the lab reads CPU time from /proc: Linux only', 2)
  const asked = seconds(args, 'window', undefined)
  const window = asked ?? (quick ? 1 : (standard.window ?? standardWindow))
  const generator = oneOf(args, 'generator', 'load', generators)
  needProgram(generator)
  return {
    warmup: seconds(args, 'warmup', standard.warmup ?? null),
    window: hasExactCpu() ? window : Math.max(window, coarseWindow),
    windowAsked: asked !== undefined || quick || standard.window !== undefined,
    generator,
    cores: chooseCores(),
    port: count(args, 'port', benchPort(), 65_535, 0),
    quick,
    soak: seconds(args, 'soak', null, 86_400),
  }
}

/**
 * By name, with `:variant` behind it for one alone; all of them when none are named. `counts` of connections stand for
 * that of each plain closed loop.
 */
export function chosenScenarios(
  asked: readonly string[] | undefined,
  quick: boolean,
  counts?: readonly number[],
): { scenario: Scenario; variants: Scenario['variants'] }[] {
  const points = (scenario: Scenario, variants: Scenario['variants']): Scenario['variants'] =>
    counts === undefined ? variants : atConnections(scenario, variants, counts)
  const wanted = (asked ?? scenarios.map(({ name }) => name)).map((name) => {
    const [scenarioName, variantName] = name.split(':') as [string, string | undefined]
    const scenario = scenarioOf(scenarioName)
    if (variantName !== undefined)
      return { scenario, variants: points(scenario, [variantOf(scenario, variantName)]) }
    // Programs of the bars alone are measured when they are asked for.
    const variants = scenario.variants.filter(({ long }) => !quick || long !== true)
    return { scenario, variants: points(scenario, variants) }
  })
  // A wrong setting of the environment is told before anything is measured.
  for (const { variants } of wanted) for (const { measure } of variants) void measure.load
  return asked === undefined
    ? wanted.filter(({ scenario }) => scenario.program !== 'param' && scenario.program !== 'middleware')
    : wanted
}

/** By name; all of them when none are named. Named twice is measured twice. */
export function chosenEntries(args: Arguments, asked: readonly string[] | undefined): Entry[] {
  const entries = readEntries()
  const chosen = asked === undefined ? entries : asked.map((name) => entryNamed(name, entries))
  const versions = names(args, 'node') ?? []
  // One version alone is that of every entry; of several each has its own rows.
  if (versions.length < 2) {
    const [version] = versions
    if (version !== undefined) void nodeOf(version)
    return chosen
  }
  return versions.flatMap((version) => chosen.map((entry) => onVersion(entry, version)))
}

/** By name; `fastify@20` is Fastify on Node.js 20, whatever the others run on. */
export function entryNamed(name: string, entries: readonly Entry[]): Entry {
  const [plain, version] = name.split('@') as [string, string | undefined]
  const entry = entryOf(plain, entries)
  return version === undefined ? entry : onVersion(entry, version)
}

function onVersion(entry: Entry, version: string): Entry {
  if (entry.name.includes('@') || entry.runtime !== 'node') return entry
  return onNode(entry, nodeOf(version), `${entry.name}@${version}`)
}

/** What `--connections` asks for. */
export function connectionsOf(args: Arguments): number[] | undefined {
  return names(args, 'connections')?.map((given) => {
    const value = Number(given)
    if (Number.isInteger(value) && value >= 1 && value <= 10_000) return value
    throw new Failure(`--connections takes whole numbers from 1 to 10000 with commas, not ${given}`, 2)
  })
}

/** Each scenario with the entries that have its program; the first of them is measured twice for the noise floor. */
export function combine(
  wanted: readonly { scenario: Scenario; variants: Scenario['variants'] }[],
  entries: readonly Entry[],
  withNoise: boolean,
): Chosen[] {
  const unique = [...new Map(entries.map((entry) => [entry.name, entry])).values()]
  return wanted.flatMap(({ scenario, variants }) => {
    // The limit does not read its requests: it cannot know that a connection is to be closed.
    const closes = variants.some(({ lane }) => lane === 'new connections')
    const able = unique.filter(
      (entry) => entry.programs.includes(scenario.program) && (entry.javascript || !closes),
    )
    if (able.length === 0) return []
    const named = unique.find((entry) => entries.filter(({ name }) => name === entry.name).length > 1)
    const base = able.find(({ name }) => baseName(name) === preferredBase) ?? able[0]
    const own = named !== undefined && able.includes(named) ? named : null
    const twice = own ?? (withNoise && able.length > 1 ? (base as Entry) : null)
    return [{ scenario, variants, entries: able, twice }]
  })
}

function benchPort(): number {
  const given = process.env['BENCH_PORT']
  if (given === undefined) return 0
  const port = Number(given)
  if (Number.isInteger(port) && port >= 1 && port <= 65_535) return port
  throw new Failure(`BENCH_PORT is ${given}; it takes a port from 1 to 65535`, 2)
}
