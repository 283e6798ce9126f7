import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { scenarios } from '../src/scenarios/index.ts'
import { skip } from './broken-entry.ts'
import { type Outcome, laboratory } from './laboratory.ts'

const lab = laboratory({ honest: ['honest'], other: ['honest'] })
after(() => lab.close())

const known = scenarios.map(({ name }) => name).join(' ')
const run = ['run', '--entries', 'honest', '--scenarios', 'ramapi-json:plain', '--name', 'never']
const velox = ['run', '--entries', 'honest', '--scenarios', 'veloxts-throughput', '--name', 'never']
const cases: [readonly string[], RegExp, Record<string, string>?][] = [
  [
    ['race'],
    /unknown command race; known: run pair .* slow-readers tls-storm sse drain roll kill balance workers connections limiter systemd$/,
  ],
  [['run', '--scenarios', 'nonesuch'], new RegExp(`unknown scenario nonesuch; known: ${known}$`)],
  [
    ['run', '--scenarios', 'ramapi-json:fast'],
    /ramapi-json has no variant fast; it has: plain pipelined open loop$/,
  ],
  [['run', '--scenarios', '__proto__'], /unknown scenario __proto__; /],
  [['run', '--entries', 'nonesuch'], /unknown entry nonesuch; known: honest other$/],
  [['run', '--fast'], /Unknown option '--fast'; npm run lab -- run --help shows what it takes$/],
  [['run', 'core'], /run takes options only, not core: --scenarios, --entries$/],
  [['run', '--resume', 'nonesuch'], /there is no run .*nonesuch$/],
  [
    ['run', '--resume', 'nonesuch', '--rounds', '9'],
    /--resume goes on as the run was begun: leave out --rounds$/,
  ],
  [[...run, '--rounds', '0'], /--rounds takes a whole number from 1 to 1000, not 0$/],
  [[...run, '--rounds', '1.5'], /--rounds takes a whole number/],
  [[...run, '--window', 'x'], /--window takes seconds from 0\.1 to 600, not x$/],
  [[...run, '--warmup', '-1'], /--warmup.*; npm run lab -- run --help/],
  [[...run, '--port', '70000'], /--port takes a whole number from 0 to 65535, not 70000$/],
  [[...run, '--generator', 'ab'], /--generator takes load, wrk, autocannon, oha, not ab$/],
  [
    [...run, '--node', '3'],
    /Node\.js 3 is not among the versions that scripts\/nodes\.mjs pins: choose one of those$/,
  ],
  [run, /BENCH_PORT is x; it takes a port from 1 to 65535$/, { BENCH_PORT: 'x' }],
  [velox, /BENCH_CONNECTIONS is 0; it takes a whole number from 1 to 10000$/, { BENCH_CONNECTIONS: '0' }],
  [velox, /BENCH_DURATION is x; it takes a whole number from 1 to 3600$/, { BENCH_DURATION: 'x' }],
  [['drain'], /drain takes either --behind nginx or --direct$/],
  [['drain', '--direct', '--behind', 'nginx'], /drain takes either --behind nginx or --direct$/],
  [['drain', '--behind', 'apache'], /drain takes either --behind nginx or --direct$/],
  [['drain', '--direct', '--server', 'koa'], /--server takes native, .*, not koa$/],
  [
    ['drain', '--direct', '--root', '/none'],
    /\/none is no checkout with built packages: run npm run build there$/,
  ],
  [['roll', '--server', 'koa'], /--server takes volant, .*, bun, not koa$/],
  [['roll', '--server', 'node', '--against', 'koa'], /--against takes volant, .* with commas, not koa$/],
  [['kill', '--signal', 'TERM'], /--signal takes KILL, STOP, not TERM$/],
  [['kill', '--who', 'start', '--count', '2'], /--who start takes neither --signal STOP nor --count$/],
  [['kill', '--every', '0s'], /--every takes seconds from 0\.1 to 600, as 1s, not 0s$/],
  [['kill', '--workers', '1'], /--workers takes a whole number from 2 to 64, not 1$/],
  [['balance', '--connections', '10,x'], /--connections takes whole numbers from 1 to 10000 with commas$/],
  [['workers', '--workers', '4'], /--workers takes two whole numbers or more from 1 to 64 with commas$/],
  [['limiter', '--requests', '500'], /--requests must be more than --limit, or nothing is refused$/],
  [
    ['pair', 'honest', '--scenario', 'ramapi-json:plain'],
    /pair takes two entries or more: npm run lab -- pair native uws$/,
  ],
  [['pair', 'honest', 'nonesuch'], /unknown entry nonesuch; /],
  [
    ['pair', 'honest', 'other', '--connections', '0,x'],
    /--connections takes whole numbers from 1 to 10000 with commas, not 0$/,
  ],
  [['run', '--preset', 'none'], /unknown preset none; known: core batteries services realtime tls$/],
  [
    ['run', '--preset', 'core', '--entries', 'honest'],
    /--preset says what is measured: leave out --entries$/,
  ],
  [
    ['pair', 'honest', 'other', '--lane', 'fast'],
    /--lane takes plain, pipelined, both or open-loop, not fast$/,
  ],
  [['pair', 'honest', 'other', '--scenario', 'param'], /none of these entries serves this scenario$/],
  [['table'], /table takes one run: npm run lab -- table core$/],
  [['table', 'nonesuch'], /there is no run .*nonesuch$/],
  [['compare', 'a'], /compare takes two runs: npm run lab -- compare A B$/],
  [['report', 'nonesuch'], /there is no run /],
  [['baseline'], /baseline takes one run/],
  [['check', 'a'], /check takes a run and a baseline/],
  [
    ['check', 'a', '--baseline', '/nonexistent.json'],
    /there is no baseline \/nonexistent\.json: write it with /,
  ],
  [['doctor', 'nonesuch'], /unknown entry nonesuch; /],
  [['soak', '--requests', 'x'], /--requests takes a whole number from 1 to 1000000000, not x$/],
  [['soak', '--adapter', 'x'], /--adapter takes native, node-http, not x$/],
  [['idle', '--tls', '--server', 'uws'], /idle --tls takes native, node-http, node and bun, not uws$/],
  [['tls-storm', '--storms', '0'], /--storms takes a whole number from 1 to 64, not 0$/],
  [['tls-storm', '--server', 'koa'], /--server takes native, node-http, node, bun, fastify, not koa$/],
  [['idle', '--connections', '0'], /--connections takes a whole number from 1 to 100000, not 0$/],
]

test('each is one line that says what to do, exit code 2, and measures nothing', { skip }, async () => {
  const outcomes = await lab.runEach(cases.map(([args, , environment = {}]) => ({ args, environment })))
  const wrong = cases.flatMap(([args, expected], index) => {
    const { code, output, errors } = outcomes[index] as Outcome
    const right =
      code === 2 && output === '' && /^lab: [^\n]+\n$/.test(errors) && expected.test(errors.trimEnd())
    return right ? [] : [`${args.join(' ')}: exit ${code}: ${errors}${output}`]
  })
  assert.deepEqual(wrong, [])
  assert.deepEqual(lab.leftovers(), [])
})

test('a generator that is not there is named with the package that brings it', { skip }, async () => {
  const packages = {
    wrk: 'the package wrk (apt-get install wrk)',
    autocannon: 'the npm package autocannon (npm install --global autocannon)',
    oha: 'the crate oha (cargo install oha)',
  }
  for (const [name, brings] of Object.entries(packages)) {
    const { code, errors } = await lab.run([...run, '--generator', name], { PATH: '/nonexistent' })
    assert.equal(code, 2)
    assert.equal(errors, `lab: the load generator ${name} is missing: ${brings}\n`)
  }
  const { code, errors } = await lab.run(run, { CARGO_TARGET_DIR: join(lab.folder, 'nothing') })
  assert.equal(code, 2)
  assert.equal(errors, 'lab: the load generator load is missing: cargo build --release -p volant-load\n')
})

test('a manifest that is wrong is named with its key', { skip }, async () => {
  const own = laboratory({ honest: ['honest'] })
  try {
    const folder = join(own.folder, 'entries/wrong')
    mkdirSync(folder)
    const right = { title: 'Wrong', about: 'Wrong', adapter: 'none', programs: ['hello'] }
    const manifests: [string, RegExp][] = [
      ['{"title":', /wrong\/entry\.json: .*JSON.*; see entries\/README\.md$/],
      [JSON.stringify({ ...right, colour: 'red' }), /unknown key colour; /],
      [JSON.stringify({ ...right, title: undefined }), /title must be a string; /],
      [JSON.stringify({ ...right, runtime: 'ruby' }), /runtime must be node, bun, deno or binary; /],
      [JSON.stringify({ ...right, programs: 'hello' }), /programs must be a list; /],
      [JSON.stringify({ ...right, programs: ['hello', 'fly'] }), /unknown program fly; /],
      [JSON.stringify({ ...right, environment: { PORT: 1 } }), /environment must be texts by name; /],
      ['null', /must be an object; /],
    ]
    for (const [manifest, expected] of manifests) {
      writeFileSync(join(folder, 'entry.json'), manifest)
      const { code, output, errors } = await own.run(['list'])
      assert.equal(code, 2, manifest)
      assert.match(errors, /^lab: [^\n]+\n$/)
      assert.match(errors.trimEnd(), expected)
      assert.equal(output, '')
    }
  } finally {
    own.close()
  }
})

test('every command has help with an example, and no command at all has the list', async () => {
  const { code, output } = await lab.run(['--help'])
  assert.equal(code, 0)
  const names = [...output.matchAll(/^ {2}(\w+) +\S/gm)].map((match) => match[1] as string)
  assert.ok(names.length >= 11, names.join())
  const helps = await lab.runEach(names.map((name) => ({ args: [name, '--help'] })))
  for (const [index, help] of helps.entries()) {
    assert.equal(help.code, 0)
    assert.match(help.output, new RegExp(`^usage: npm run lab -- ${names[index]}`))
    assert.match(help.output, /^examples?\n {2}(?:\S+=\S+ )*npm run lab -- /m)
  }
  const none = await lab.run([])
  assert.deepEqual([none.code, none.output], [2, output])
})

test('list knows every scenario, entry and run', { skip }, async () => {
  const { code, output } = await lab.run(['list'])
  assert.equal(code, 0)
  for (const name of ['ramapi-json', 'zapjs-sweep', 'veloxts-startup', 'overload', 'honest', 'other'])
    assert.match(output, new RegExp(`^${name} `, 'm'))
  assert.match(output, /^runs: none$/m)
})
