import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { nullServerPath } from '../src/folders.ts'
import { isInstalled } from '../src/machine.ts'
import type { Sample } from '../src/pair.ts'
import { scenarios } from '../src/scenario.ts'
import type { StartSample } from '../src/startup.ts'

const cli = fileURLToPath(new URL('../src/cli.js', import.meta.url))
const linux = process.platform === 'linux'
const skip = !linux ? 'the lab needs Linux' : !isInstalled('wrk') ? 'wrk is not installed' : false

interface Outcome {
  code: number | null
  output: string
  errors: string
}

function lab(args: string[], env: NodeJS.ProcessEnv = process.env): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [cli, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    let errors = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
    child.on('error', reject).on('close', (code) => resolve({ code, output, errors }))
  })
}

const short = ['--rounds', '2', '--warmup', '0.2', '--window', '0.3']

test('wrong command lines end with one line and exit code 2', async () => {
  const cases: [string[], RegExp][] = [
    [['pair', 'limit', 'nonesuch'], /^lab: unknown server nonesuch; known: limit native .*bun\n$/],
    [['pair', 'limit'], /^lab: pair takes two servers or more.*\n$/],
    [['pair', 'node', 'limit', '--scenario', 'x'], /^lab: unknown scenario x; known: json .*users\n$/],
    [['pair', 'node', 'limit', '--scenario', 'param'], /^lab: limit does not serve param\n$/],
    [['startup', 'nonesuch'], /^lab: unknown server nonesuch.*\n$/],
    [['race'], /^lab: unknown command race.*\n$/],
    [['pair', '--rounds', '0', 'node', 'limit'], /^lab: --rounds takes a whole number from 1 to 1000\n$/],
    [['pair', '--window', 'x', 'node', 'limit'], /^lab: --window takes seconds from 0.1 to 600\n$/],
    [['pair', '--lane', 'fast', 'node', 'limit'], /^lab: --lane takes plain, pipelined or both\n$/],
    [['pair', '--fast'], /^lab: Unknown option '--fast'.*\n$/],
    [['soak', '--requests', 'x'], /^lab: --requests takes a whole number from 1 to 1000000000\n$/],
    [['soak', '--adapter', 'x'], /^lab: --adapter takes native or node-http\n$/],
    [['idle', '--connections', '0'], /^lab: --connections takes a whole number from 1 to 100000\n$/],
    [['idle', '--server', 'express'], /^lab: idle knows native node-http node bun uws limit\n$/],
  ]
  for (const [args, expected] of cases) {
    const { code, output, errors } = await lab(args)
    assert.equal(code, 2, args.join(' '))
    assert.match(errors, linux && !skip ? expected : /^lab: .*\n$/)
    assert.equal(output, '')
  }
})

test('the help names every server', async () => {
  const { code, output } = await lab(['--help'])
  assert.equal(code, 0)
  for (const name of ['limit', 'native', 'node-http', 'node', 'uws', 'fastify', 'express', 'bun']) {
    assert.match(output, new RegExp(`^  ${name} `, 'm'))
  }
})

test('the help names every scenario', async () => {
  const { output } = await lab(['--help'])
  for (const { name, about } of scenarios) assert.ok(output.includes(`  ${name.padEnd(14)}${about}\n`), name)
})

test('a missing wrk is named with its package', { skip: linux ? false : 'the lab needs Linux' }, async () => {
  const { code, errors } = await lab(['pair', 'node', 'node'], { ...process.env, PATH: '/nonexistent' })
  assert.equal(code, 2)
  assert.equal(errors, 'lab: the load generator is missing: install the package wrk\n')
})

test('a server against itself is a tie', { skip }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lab-'))
  try {
    const file = join(folder, 'run.json')
    const { code, output, errors } = await lab(['pair', 'node', 'node', ...short, '--json', file])
    assert.equal(code, 0, errors)
    assert.match(output, /^node#2 /m)
    const { samples, machine, method } = JSON.parse(readFileSync(file, 'utf8')) as {
      samples: Sample[]
      machine: { node: string }
      method: { rounds: number }
    }
    assert.equal(machine.node, process.version)
    assert.equal(method.rounds, 2)
    assert.deepEqual(
      samples.map(({ round, lane, server }) => `${round} ${lane} ${server}`),
      [
        '0 plain node',
        '0 plain node#2',
        '0 pipelined node',
        '0 pipelined node#2',
        '1 plain node#2',
        '1 plain node',
        '1 pipelined node#2',
        '1 pipelined node',
      ],
    )
    for (const sample of samples) {
      assert.ok(sample.requests > 100, JSON.stringify(sample))
      assert.ok(sample.cpuMicrosecondsPerRequest > 1 && sample.cpuMicrosecondsPerRequest < 1000)
      assert.ok(sample.busy > 0 && sample.busy < 1.3)
      assert.ok(sample.seconds > 0.2 && sample.seconds < 3)
      assert.equal(sample.non2xx, 0)
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
})

const light = linux ? false : 'the lab needs Linux'

test('servers are compared on a scenario by its name', { skip }, async () => {
  const { code, output, errors } = await lab(['pair', 'node', 'node-http', '--scenario', 'param', ...short])
  assert.equal(code, 0, errors)
  assert.match(errors, /^lab: this takes about \d+ s$/m)
  assert.match(output, /^No pipelining: GET \/hi\/Ada$/m)
  assert.match(output, /^node-http +[\d.]+ /m)
  assert.doesNotMatch(output, /not 2xx/)
})

test(
  'startup gives the time to the first reply and idle memory of fresh processes',
  { skip: light },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'lab-'))
    try {
      const file = join(folder, 'run.json')
      const { code, output, errors } = await lab([
        'startup',
        'node',
        'node-http',
        '--rounds',
        '2',
        '--json',
        file,
      ])
      assert.equal(code, 0, errors)
      assert.match(
        output,
        /^node-http +[\d.]+ +[\d.]+–[\d.]+ +[+−][\d.]+ +[\d.]+ +[\d.]+–[\d.]+ +[+−][\d.]+ +2$/m,
      )
      const { starts } = JSON.parse(readFileSync(file, 'utf8')) as { starts: StartSample[] }
      assert.deepEqual(
        starts.map(({ round, server }) => `${round} ${server}`),
        ['0 node', '0 node-http', '1 node-http', '1 node'],
      )
      for (const { startMilliseconds, idleBytes } of starts) {
        assert.ok(startMilliseconds > 10 && startMilliseconds < 5_000, String(startMilliseconds))
        assert.ok(idleBytes > 10e6 && idleBytes < 200e6, String(idleBytes))
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
)

const noLimit = existsSync(nullServerPath) ? false : 'the null server is not built (npm run lab builds it)'

test('the limit costs less than node:http', { skip: skip || noLimit }, async () => {
  const { code, output, errors } = await lab(['pair', 'limit', 'node', ...short])
  assert.equal(code, 0, errors)
  const ratios = [...output.matchAll(/^node +\S+ +\S+ +([\d.]+) /gm)].map((match) => Number(match[1]))
  assert.equal(ratios.length, 2, output)
  for (const ratio of ratios) assert.ok(ratio > 1.2, output)
})

test(
  'idle connections are held, and their memory is told',
  { skip: linux ? false : 'the lab needs Linux' },
  async () => {
    const { code, output, errors } = await lab(['idle', '--server', 'node', '--connections', '300'])
    assert.equal(code, 0, errors)
    assert.match(output, /^node: 300 connections, opened in [\d.]+ s, one request on each\n/)
    assert.match(output, /^ {2}memory {6}\+?-?[\d.]+ MB/m)
    assert.match(output, /^ {2}still open {2}300$/m)
  },
)
