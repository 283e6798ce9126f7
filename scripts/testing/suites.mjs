/**
 * What runs where, and why: the list of suites. The longest path that a file begins with decides.
 *
 * - `runs`: `always` in `npm test`, which is the default; `ci` also in `.ci/run`; `all` only in `npm run test:all`, which
 *   `.ci/run --full` runs. Each scope includes the ones before it.
 * - `process`: `own` gives each file a process of its own; `shared` runs the files of a `group` in few processes.
 * - `parts`: into how many processes a file divides its cases (TEST_PART).
 */
const suites = [
  {
    path: 'packages/volant/test/',
    process: 'shared',
    group: 'packages/volant',
    why: 'cases about the framework run once, in memory, and leave nothing behind',
  },
  {
    path: 'packages/volant/test/metrics-workers.test.ts',
    process: 'own',
    why: 'its process is a worker before the framework is loaded, as that of an app is',
  },
  {
    path: 'packages/volant/test/sessions/framework.test.ts',
    process: 'own',
    why: 'what is said once in a process has not been said before',
  },
  ...['debug', 'log/hostile-values'].map((name) => ({
    path: `packages/volant/test/${name}.test.ts`,
    process: 'own',
    why: 'it fills or writes out the heap, which takes much longer where other files have filled it',
  })),
  {
    path: 'packages/volant/test/client/generated-file/command.test.ts',
    process: 'own',
    runs: 'all',
    why: 'it starts the command twenty times; the other files of the folder have what it writes',
  },
  { path: 'packages/engine/test/', why: 'each file has an engine of its own, which it drives to its limits' },

  {
    path: 'conformance/adapters/test/',
    why: 'these start processes and threads, or use up what a process has',
  },
  {
    path: 'conformance/adapters/test/native.test.ts',
    parts: 6,
    why: 'what users can observe of an adapter: the default one runs with every change, over plain HTTP/1.1',
  },
  {
    path: 'conformance/adapters/test/native-tls.test.ts',
    runs: 'all',
    parts: 4,
    why: 'what differs over TLS is in the groups named tls, which native.test.ts runs; these are all others',
  },
  {
    path: 'conformance/adapters/test/native-http2.test.ts',
    runs: 'all',
    parts: 2,
    why: 'what differs over HTTP/2 is in the groups named http2, which native.test.ts runs; these are all others',
  },
  {
    path: 'conformance/adapters/test/node-http',
    runs: 'all',
    parts: 3,
    why: 'what differs over TLS and HTTP/2 on node:http; a change of one adapter seldom breaks another',
  },
  {
    path: 'conformance/adapters/test/node-http.test.ts',
    runs: 'ci',
    parts: 3,
    why: 'what users can observe of an adapter; a change of one seldom breaks another',
  },
  {
    path: 'conformance/adapters/test/uwebsockets.test.ts',
    runs: 'ci',
    parts: 2,
    why: 'what users can observe of an adapter; a change of one seldom breaks another',
  },
  { path: 'conformance/adapters/test/uwebsockets-', runs: 'ci', why: 'as uwebsockets.test.ts' },
  {
    path: 'conformance/adapters/test/engine-faults.test.ts',
    runs: 'all',
    why: 'it compiles an engine with injected panics; those of the crates are in its Rust tests',
  },
  ...['bus', 'engine-exit', 'engine-parking', 'engine-pool', 'engine-workers'].map((name) => ({
    path: `conformance/adapters/test/${name}.test.ts`,
    runs: 'all',
    why: 'it starts dozens or hundreds of threads or processes, or sends a hundred thousand requests',
  })),
  ...['dev/', 'logger-process', 'workers-'].map((name) => ({
    path: `conformance/adapters/test/${name}`,
    runs: 'ci',
    why: 'each case starts several processes; packages/volant/test has what happens in each of them',
  })),
  { path: 'conformance/adapters/test/engine-upload-memory.test.ts', runs: 'all', why: 'it uploads 300 MiB' },

  { path: 'conformance/wire/test/', why: 'bytes in, verdicts out, on native' },
  {
    path: 'conformance/wire/test/native-tls.test.ts',
    runs: 'all',
    why: 'the bytes are those of native.test.ts, and TLS only carries them',
  },
  ...['node-http', 'uwebsockets'].map((name) => ({
    path: `conformance/wire/test/${name}`,
    runs: 'ci',
    why: 'it compares servers that are not ours with what was recorded of them',
  })),

  {
    path: 'conformance/connect/test/',
    process: 'shared',
    group: 'conformance/connect',
    why: 'behaviour is compared with Express, each file on all adapters',
  },
  ...['compression', 'each-one', 'each-two', 'headers', 'morgan', 'serve-static', 'stacks'].map((name) => ({
    path: `conformance/connect/test/${name}.test.ts`,
    runs: 'ci',
    why: 'middlewares one by one, and in stacks; the other files have what they do in common',
  })),
  {
    path: 'conformance/otel/test/',
    process: 'shared',
    group: 'conformance/otel',
    why: 'a real SDK is registered for the whole process, by each file anew',
  },
  { path: 'conformance/kit/test/', why: 'what the tests of all packages wait with' },
  { path: 'conformance/cluster/test/', why: 'it starts supervisors and workers, which end by signals' },
  ...['roll', 'stop/'].map((name) => ({
    path: `conformance/cluster/test/${name}`,
    runs: 'ci',
    why: 'it starts a dozen processes for a case; start and control run with every change',
  })),
  ...['container', 'faults', 'orphans', 'service/'].map((name) => ({
    path: `conformance/cluster/test/${name}`,
    runs: 'all',
    why: 'it starts a dozen processes for a case; start, control, roll and stop have what most changes touch',
  })),
  { path: 'conformance/attacks/', runs: 'ci', why: 'floods take a core for seconds' },
  { path: 'conformance/browser/', runs: 'all', why: 'Chromium takes a core for its start' },
  { path: 'conformance/clients/', runs: 'all', why: 'clients in other languages are compiled and started' },
  { path: 'conformance/install/', runs: 'all', why: 'it packs, installs and compiles what users install' },

  {
    path: 'examples/',
    process: 'shared',
    group: 'examples',
    why: 'each example is an app of its own, which its test loads, asks and closes',
  },
  ...['logging', 'metrics-and-health', 'protection'].map((name) => ({
    path: `examples/${name}/`,
    process: 'own',
    why: 'it is about the whole process: its output, its environment or its figures',
  })),
  { path: 'examples/reference-api/', process: 'own', why: 'it starts the reference service' },
  ...['acme', 'bookshop', 'chat', 'deploy', 'presence', 'workers'].map((name) => ({
    path: `examples/${name}/`,
    process: 'own',
    runs: 'all',
    why: 'it starts databases, proxies, browsers or several processes',
  })),
  {
    path: 'examples/reference-api/test/durability.test.ts',
    runs: 'all',
    why: 'it kills the service twenty times',
  },
  {
    path: 'examples/reference-api/test/samples.test.ts',
    runs: 'all',
    why: "it runs the first seed document's samples on each of three adapters",
  },
  {
    path: 'examples/reference-api/test/workers/',
    runs: 'all',
    why: 'each case starts a service of several workers',
  },

  {
    path: 'lab/',
    process: 'shared',
    group: 'lab',
    why: 'how figures are made: statistics, reports, guards, command lines',
  },
  ...[
    'bad-command-lines',
    'bad-runs',
    'cluster-processes',
    'conformance',
    'credentials',
    'drain',
    'interrupted-run',
    'result-files',
    'soak',
    'sockets',
  ].map((name) => ({
    path: `lab/test/${name}.test.ts`,
    process: 'own',
    runs: 'all',
    why: 'it starts the lab again and again, or measures servers under load',
  })),
]

/**
 * Files that measure time or wait for it. They run when all others have ended, and compare ratios: first those that only
 * wait (`waits`), side by side, and then the others alone, one after the other.
 */
export const measuring = [
  {
    path: 'conformance/adapters/test/engine-blocked-handler.test.ts',
    why: 'a handler blocks the event loop for real time, which the clock of the engine must not hide',
  },
  {
    path: 'conformance/adapters/test/time-limits-node-http.test.ts',
    runs: 'all',
    waits: true,
    parts: 4,
    why: 'node:http counts time limits by a clock that cannot be held',
  },
  {
    path: 'conformance/adapters/test/time-limits-uwebsockets.test.ts',
    runs: 'all',
    waits: true,
    parts: 2,
    why: 'uWebSockets.js counts time limits by a clock that cannot be held',
  },
  { path: 'conformance/attacks/test/native.test.ts', runs: 'ci', why: 'it compares what an attack costs' },
  {
    path: 'packages/volant/test/parse-cost.test.ts',
    why: 'it compares what texts of n and of 8n bytes cost',
  },
  {
    path: 'packages/volant/test/password-cost.test.ts',
    why: 'it compares what a known and an unknown user cost',
  },
  { path: 'packages/volant/test/path.test.ts', why: 'it compares what paths of n and of 2n bytes cost' },
  { path: 'packages/volant/test/router.test.ts', why: 'it compares what paths of n and of 2n bytes cost' },
  {
    path: 'packages/volant/test/schema-standard/format-cost.test.ts',
    why: 'it compares what texts of n and of 2n bytes cost',
  },
  {
    path: 'packages/volant/test/schemas/refusal-cost.test.ts',
    why: 'it compares how long bodies of n and of 16n lines take',
  },
  { path: 'lab/load load', why: 'tests of Rust: the load generator measures a server' },
  { path: 'lab/test/measured-guards.test.ts', runs: 'all', why: 'it measures how busy a server is' },
  { path: 'lab/test/open-loop.test.ts', runs: 'all', why: 'it measures when requests are sent' },
  { path: 'lab/test/startup.test.ts', runs: 'all', why: 'it measures how long a start takes' },
]

/** What else may wait for the wall clock or read it: what tests use, and cases that no held clock can have. */
const clocks = [
  {
    path: 'conformance/adapters/src/cases/drain/idle.ts',
    why: 'the event loop is blocked until a thread says that its clients connect; a hang ends by the wall clock',
  },
  {
    path: 'conformance/adapters/src/cases/drain/time-limits.ts',
    why: 'it blocks the event loop until a time limit is over, where the clock of an adapter cannot be held',
  },
  { path: 'conformance/adapters/src/clock.ts', why: 'it waits where the clock of an adapter cannot be held' },
  { path: 'conformance/attacks/src/attacks/holds.ts', why: 'its attackers send a byte now and then' },
  { path: 'conformance/attacks/src/trial.ts', why: 'it measures what an attack costs' },
  { path: 'conformance/cluster/src/load.ts', why: 'its clients send at a rate' },
  { path: 'conformance/kit/src/certificates.ts', why: 'its certificates are valid from now on' },
  { path: 'conformance/kit/src/clock.ts', why: 'it replaces the clocks' },
  ...['patience', 'waiting'].map((name) => ({
    path: `conformance/kit/src/${name}.ts`,
    why: 'it is what waits for all others; a hang ends by the wall clock',
  })),
  {
    path: 'packages/volant/test/proportional.ts',
    why: 'it measures for files that compare what texts cost',
  },
  {
    path: 'lab/test/readings.test.ts',
    why: 'it compares the processor time that the lab reads with what Node.js says',
  },
  { path: 'lab/test/servers/slow.mjs', why: 'it is a slow server, for files that measure time' },
]

/** A file that takes longer, in ms, is named here with its reason: three files run at a time, and some have long forms. */
export const longest = 20_000
const slow = [
  ...['native', 'node-http', 'uwebsockets', 'time-limits-'].map((name) => ({
    path: `conformance/adapters/test/${name}`,
    why: 'hundreds of cases, each with an app and connections of its own',
  })),
  {
    path: 'conformance/adapters/test/bus',
    why: 'it passes some hundred thousand messages between processes',
  },
  { path: 'conformance/adapters/test/dev/', why: 'it starts an app again and again' },
  {
    path: 'conformance/adapters/test/engine-',
    why: 'it compiles an engine, or starts a hundred threads or processes',
  },
  { path: 'crates/engine', why: 'hundreds of cases on real sockets run side by side' },
  { path: 'conformance/attacks/', why: 'an attack lasts until a limit ends it' },
  { path: 'conformance/browser/', why: 'it starts Chromium' },
  { path: 'conformance/clients/', why: 'it starts a client for each case' },
  { path: 'conformance/connect/', why: 'it compares each middleware with Express, on every adapter' },
  { path: 'conformance/cluster/', why: 'it starts a supervisor and its workers for each case' },
  { path: 'conformance/install/', why: 'it installs packages' },
  { path: 'conformance/wire/', why: 'silence of a server is told by waiting for it' },
  { path: 'examples/', why: 'it starts databases, proxies or services of several processes' },
  { path: 'lab/', why: 'it measures for some seconds' },
  ...['client/generated-file/command', 'log/process-end', 'rate-limit/processes'].map((name) => ({
    path: `packages/volant/test/${name}.test.ts`,
    why: 'it starts a dozen processes',
  })),
  ...['forms/fuzz', 'jwt/corpus', 'serialization/random'].map((name) => ({
    path: `packages/volant/test/${name}.test.ts`,
    why: 'it tries tens of thousands of inputs in its long form',
  })),
]

/** The paths of these lists. */
export function paths() {
  return [...suites, ...measuring, ...clocks, ...slow].map(({ path }) => path)
}

/** The row of the list that a file belongs to. */
export function suiteOf(source) {
  const own = measuring.find(({ path }) => path === source)
  if (own !== undefined) return own
  const found = suites.filter(({ path }) => source.startsWith(path))
  return found.toSorted((one, other) => other.path.length - one.path.length)[0] ?? {}
}

/** Each includes the ones before it. */
const scopes = ['always', 'ci', 'all']

/** Says whether a file runs in this scope: `always`, `ci` or `all`. */
export function runsIn(source, scope) {
  return scopes.indexOf(suiteOf(source).runs ?? 'always') <= scopes.indexOf(scope)
}

/** Whether a file runs alone and last. */
export function isMeasuring(source) {
  return measuring.some(({ path }) => path === source)
}

/** Says whether a file only waits for time, so that others may wait beside it. */
export function isWaiting(source) {
  return suiteOf(source).waits === true
}

/** Whether a file may wait for the wall clock or read it. */
export function mayReadClock(file) {
  return isMeasuring(file) || clocks.some(({ path }) => path === file)
}

/** Why a file takes longer than others, or undefined. */
export function slowReason(name) {
  return slow.find(({ path }) => name.startsWith(path))?.why
}
