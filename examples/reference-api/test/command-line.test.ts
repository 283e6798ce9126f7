import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { help, parseCommand, UsageError } from '../src/command-line.ts'
import { profiles } from '../src/profiles.ts'

const start = fileURLToPath(new URL('../../../../scripts/start.mjs', import.meta.url))

test('without arguments: the reference service where PORT says, else on 3000', () => {
  assert.deepEqual(parseCommand([], {}), {
    profile: 'reference',
    port: 3000,
    adapter: undefined,
    tls: undefined,
    workers: undefined,
  })
  assert.equal(parseCommand([], { PORT: '8080' })?.port, 8080)
})

test('a profile has its own port; PORT comes before it, --port before both', () => {
  assert.equal(parseCommand(['--profile', 'veloxts'], {})?.port, 3030)
  assert.equal(parseCommand(['--profile', 'veloxts'], { PORT: '1' })?.port, 1)
  assert.deepEqual(
    parseCommand(['--profile=zapjs', '--port', '0', '--adapter', 'node-http'], { PORT: '1' }),
    {
      profile: 'zapjs',
      port: 0,
      adapter: 'node-http',
      tls: undefined,
      workers: undefined,
    },
  )
})

test('the certificate of --tls comes before that of TLS, and an empty TLS is none', () => {
  assert.equal(parseCommand(['--tls', '.cert'], { TLS: '/etc/cert' })?.tls, '.cert')
  assert.equal(parseCommand([], { TLS: '/etc/cert' })?.tls, '/etc/cert')
  assert.equal(parseCommand([], { TLS: '' })?.tls, undefined)
})

test('workers are a number or auto, and WEB_CONCURRENCY alone has none started', () => {
  assert.equal(parseCommand(['--workers', '4'], {})?.workers, 4)
  assert.equal(parseCommand(['-w', '1024'], {})?.workers, 1_024)
  assert.equal(parseCommand(['--workers=auto', '--profile', 'ramapi'], {})?.workers, 'auto')
  assert.equal(parseCommand(['--workers=1', '--profile', 'veloxts'], {})?.workers, 1)
  assert.equal(parseCommand([], { WEB_CONCURRENCY: '4' })?.workers, undefined)
})

test('help names every profile and its port', () => {
  assert.equal(parseCommand(['--help'], {}), null)
  assert.equal(parseCommand(['-h', '--profile', 'ramapi'], {}), null)
  for (const [name, { port }] of Object.entries(profiles)) {
    assert.match(help(), new RegExp(`^ +${name} .*port ${port}$`, 'm'))
  }
})

const mistakes: [args: string[], message: RegExp][] = [
  [['--profile', 'express'], /^there is no profile express; there are reference, ramapi, /],
  [['--profile', 'toString'], /^there is no profile toString/],
  [['--adapter', 'bun'], /^there is no adapter bun; there are native, node-http, uwebsockets$/],
  [['--port', '65536'], /^a port is a whole number from 0 to 65535, not "65536"$/],
  [['--port', '-1'], /port/],
  [['--port', '80a'], /not "80a"$/],
  [['--port'], /port/],
  [['--workers', '0'], /^--workers is a whole number from 1 to 1024, or auto, not "0"$/],
  [['--workers', '1025'], /not "1025"$/],
  [['--workers', '2.5'], /not "2.5"$/],
  [['--workers', 'all'], /not "all"$/],
  [['--workers', '2', '--profile', 'veloxts'], /^the profile veloxts keeps its users in memory/],
  [['--workers', 'auto', '--profile', 'veloxts'], /^the profile veloxts keeps its users in memory/],
  [['--workers', '2', '--adapter', 'uwebsockets'], /^the adapter uwebsockets cannot get connections/],
  [['--bogus'], /--bogus/],
  [['extra'], /extra/],
]

for (const [args, message] of mistakes) {
  test(`${args.join(' ')} is refused in one line`, () => {
    assert.throws(
      () => parseCommand(args, {}),
      (error) => error instanceof UsageError && message.test(error.message) && !error.message.includes('\n'),
    )
  })
}

test(
  'npm start passes its arguments on: help is 0, a mistake is one line and 2',
  { timeout: 300_000 },
  () => {
    assert.ok(existsSync(start))
    const run = (...args: string[]) => spawnSync(process.execPath, [start, ...args], { encoding: 'utf8' })
    const wanted = run('--help')
    assert.equal(wanted.status, 0)
    assert.ok(wanted.stdout.endsWith(help()), wanted.stderr)
    const wrong = run('--profile', 'nothing')
    assert.equal(wrong.status, 2)
    assert.equal(wrong.stderr.trim().split('\n').length, 1)
    assert.match(wrong.stderr, /there is no profile nothing/)
  },
)
