/**
 * The steps of `.ci/run`, which a change has to pass, and of `.ci/run --full`, which has all that there is and has to be run
 * before a release. Decision 0040 says what is where, and why.
 *
 * A step begins when those that it needs have ended, a few at a time. Each prints what it printed
 * when it ends: the end of it, or all of it where it failed. A step that fails ends the run. The tests come last, so that
 * nothing runs beside those that measure time, and after a table of what each step took.
 */
import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { root } from './command.mjs'
import { versions } from './nodes.mjs'
import { testFiles } from './testing/jobs.mjs'
import { childrenTime } from './testing/processor-time.mjs'
import { cargoArguments } from './testing/rust.mjs'
import { runsIn } from './testing/suites.mjs'

/** How many lines of the output of a step that passed are shown. */
const shown = 60

/** How many steps run at a time: compilers use a core each, and the suites of others wait now and then. */
const lanes = availableParallelism() + 1

const npm = (script, ...rest) => ['npm', 'run', '--silent', script, ...rest]
const node = (...args) => ['node', ...args]

const options = process.argv.slice(2)
const isFull = options[0] === '--full'
if (options.length > Number(isFull)) {
  console.error(`.ci/run does not know ${options.at(-1)}: give --full, or nothing`)
  process.exit(2)
}
/** The versions of Node.js beside the one that runs the tests. The newest of them has the contract with every change. */
const others = Object.keys(versions).filter((major) => !process.version.startsWith(`v${major}.`))

/**
 * `nice`: compilers give way to npm, which uses one core, and fuzz tests, which end by the clock, to all others; a
 * compiler that gives way any further would stand still beside somebody else's work. `full`: only `--full` runs it.
 */
const allSteps = [
  // JOBS: node-gyp compiles that many files at a time. The flags go behind its -O3, by which SQLite takes a minute more.
  {
    name: 'npm ci',
    run: ['npm', 'ci'],
    env: { JOBS: String(availableParallelism()), CFLAGS: '-O1', CXXFLAGS: '-O1' },
  },
  { name: 'AWS-LC, compiled', run: node('scripts/compile-aws-lc.mjs'), nice: 3 },
  {
    name: 'clippy',
    run: ['cargo', 'clippy', '--all-targets', ...cargoArguments, '--', '-D', 'warnings'],
    nice: 3,
    needs: ['AWS-LC, compiled'],
  },
  {
    name: 'tests of Rust, compiled',
    run: ['cargo', 'test', ...cargoArguments, '--no-run'],
    nice: 3,
    needs: ['clippy'],
  },
  { name: 'TypeScript', run: node('node_modules/typescript/bin/tsc', '-b'), needs: ['npm ci'] },
  {
    name: 'engine and load generator, compiled',
    run: ['cargo', 'build', '--release', '--locked', '--package', 'volant-node', '--package', 'volant-load'],
    nice: 3,
    needs: ['AWS-LC, compiled'],
  },
  { name: 'fuzz', run: node('scripts/testing/short-fuzz.mjs'), nice: 5, needs: ['tests of Rust, compiled'] },
  { name: 'format', run: npm('format:check'), needs: ['npm ci'] },
  { name: 'lint', run: npm('lint'), needs: ['npm ci'] },
  { name: 'cost of types', run: node('scripts/type-budget.mjs'), needs: ['TypeScript'] },
  // Which room imports which; ARCHITECTURE.md has the picture.
  { name: 'floors', run: npm('floors'), needs: ['npm ci'] },
  { name: 'generated layout', run: node('scripts/layout.mjs', '--check'), needs: ['npm ci'] },
  { name: 'generated documents', run: node('scripts/docs.mjs', '--check'), needs: ['TypeScript'] },
  { name: 'documents', run: node('scripts/check-docs.mjs'), needs: ['TypeScript'] },
  { name: 'site', run: node('scripts/site.mjs', '--build'), needs: ['TypeScript'], full: true },
  // The published tables are those of the committed run, and say so when that run is older than the code.
  { name: 'published tables', run: node('lab/dist/src/cli.js', 'table', '--check'), needs: ['TypeScript'] },
  {
    name: 'build',
    run: node('scripts/build.mjs', '--load'),
    needs: ['TypeScript', 'engine and load generator, compiled'],
  },
  { name: 'AddressSanitizer', run: npm('asan'), needs: ['build'], full: true },
  { name: 'API against its document', run: npm('schemathesis'), needs: ['build'], full: true },
  {
    name: 'WebSockets against the Autobahn test suite',
    // Without most runs of 1,000 compressed messages, which take minutes: CONTRIBUTING.md says how all cases run.
    run: npm('autobahn', '--', '--short'),
    needs: ['build'],
    full: true,
  },
  { name: 'HTTP/2 against h2spec', run: npm('h2spec'), needs: ['build'] },
  {
    name: 'documents of APIs, read by tools of others',
    run: npm('openapi-tools'),
    needs: ['build'],
    full: true,
  },
  {
    name: 'contract on other versions of Node.js',
    run: isFull ? npm('matrix') : npm('matrix', '--', others.at(-1)),
    needs: ['build'],
  },
]
const steps = allSteps.filter(({ full }) => isFull || !full)
/** The tests, which come last. */
const tests = isFull ? npm('test:all') : npm('test', '--', '--ci')

/** Tests take their own short share of fuzzing; how long the step `fuzz` lasts may be given. */
const { FUZZ_SECONDS: fuzzSeconds, ...environment } = process.env
/** Nothing is compiled a second time here, so that what cargo keeps for that would only cost a sixth of the time. */
environment.CARGO_INCREMENTAL = '0'
if (fuzzSeconds !== undefined) steps.find(({ name }) => name === 'fuzz').env = { FUZZ_SECONDS: fuzzSeconds }

const begun = performance.now()
const ended = new Map()
const running = new Map()
/** The processes that run now. */
const children = new Set()
/** Seconds of processor time that are counted for a step already. */
let counted = 0
let failed = null

for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => stop(`ended by ${signal}`))
await runSteps()
if (failed !== null) {
  console.log(`\n${failed}`)
  process.exitCode = 1
} else {
  console.log('\nWhat each step took:')
  console.log('  passed  processor time')
  for (const { name, seconds, worked } of [...ended.values()].toSorted(
    (one, other) => other.seconds - one.seconds,
  )) {
    console.log(row(seconds, worked, name))
  }
  const worked = [...ended.values()].reduce((sum, each) => sum + each.worked, 0)
  console.log(row(since(begun), worked, 'all of them, side by side'))
  if (!isFull) console.log(`\nLeft to .ci/run --full:\n${leftOut()}`.trimEnd())
  console.log('\n== tests')
  const { code } = await execute({ run: tests }, (text) => process.stdout.write(text))
  process.exitCode = code
}

async function runSteps() {
  const waiting = new Set(steps)
  while (failed === null && ended.size < steps.length) {
    for (const step of waiting) {
      if (running.size >= lanes) break
      if (!(step.needs ?? []).every((name) => ended.has(name))) continue
      waiting.delete(step)
      running.set(step.name, runStep(step))
    }
    await Promise.race(running.values())
  }
  await Promise.allSettled(running.values())
}

async function runStep(step) {
  const from = performance.now()
  const parts = []
  const { code, worked } = await execute(step, (text) => parts.push(text))
  running.delete(step.name)
  if (failed !== null) return
  const lines = parts.join('').trimEnd().split('\n')
  const seconds = since(from)
  console.log(`\n== ${step.name}${code === 0 ? '' : ' FAILED'} (${seconds.toFixed(1)} s)`)
  console.log((code === 0 ? lines.slice(-shown) : lines).join('\n'))
  if (code === 0) ended.set(step.name, { name: step.name, seconds, worked })
  else stop(`${step.name} failed with exit code ${code}`)
}

/** Names what only `--full` runs: steps, parts of steps and of tests, and files of tests. */
function leftOut() {
  const steps = allSteps.filter(({ full }) => full).map(({ name }) => name)
  const files = testFiles().filter(({ source }) => !runsIn(source, 'ci'))
  return [
    ...steps,
    `contract on Node.js ${others.slice(0, -1).join(' and ')}`,
    'tests: long forms (TEST_ALL), examples in docstrings of Rust',
    ...files.map(({ source }) => source),
  ]
    .map((each) => `  ${each}\n`)
    .join('')
}

/** Runs a command in a process group of its own, so that what it started ends with it. */
function execute({ run: [command, ...args], env = {}, nice = 0 }, write) {
  return new Promise((resolve) => {
    const child = spawn('nice', ['-n', String(nice), command, ...args], {
      cwd: root,
      env: { ...environment, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    children.add(child)
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', write)
    child.on('error', (error) => write(error.message))
    let worked = 0
    child.on('exit', () => {
      worked = takeWorked()
    })
    child.on('close', (code) => {
      children.delete(child)
      resolve({ code: code ?? 1, worked })
    })
  })
}

function stop(reason) {
  failed ??= reason
  for (const { pid } of children) {
    try {
      process.kill(-pid, 'SIGTERM')
    } catch {
      // It has just ended.
    }
  }
}

/** Gives the seconds of processor time since the last call. A step calls it when it has ended, and gets its own. */
function takeWorked() {
  const before = counted
  counted = childrenTime() / 1_000
  return counted - before
}

function row(seconds, worked, name) {
  return `${seconds.toFixed(1).padStart(8)} s ${worked.toFixed(1).padStart(8)} s  ${name}`
}

function since(from) {
  return (performance.now() - from) / 1_000
}
