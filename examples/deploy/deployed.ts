/** What the tests read in the files beside them, and the one sum of times that all these files have to keep. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { limitTable } from 'volant'

/** How long after `shutdownTimeout` a supervisor sends SIGKILL to its workers, in s. */
const killDelay = 5

export function fileOf(name: string): string {
  return readFileSync(new URL(`../${name}`, import.meta.url), 'utf8')
}

/** The instructions of an image, those of its last stage, and the two that hold lists. */
export interface Image {
  lines: string[]
  last: string[]
  command: string[]
  check: string[]
}

export function imageOf(name: string): Image {
  const lines = fileOf(name)
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
  const last = lines.slice(lines.findLastIndex((line) => line.startsWith('FROM ')))
  const listOf = (start: string): string[] => {
    const line = last.find((each) => each.startsWith(start)) ?? ''
    return JSON.parse(line.slice(line.indexOf('['))) as string[]
  }
  return { lines, last, command: listOf('CMD '), check: listOf('HEALTHCHECK ') }
}

/** The arguments of Node.js with which the tests start the service: those of the image, but for what is elsewhere here. */
export function startArguments(control: number): string[] {
  const { command } = imageOf('Dockerfile')
  moduleOf(command)
  const bin = new URL('dist/src/bin.js', import.meta.resolve('volant/package.json'))
  return command
    .slice(1)
    .map((each) =>
      each === 'node_modules/.bin/volant'
        ? fileURLToPath(bin)
        : each === optionOf(command, 'control')
          ? `127.0.0.1:${control}`
          : each,
    )
}

/** The default of a limit in s. */
export function limitOf(name: string): number {
  const row = limitTable.find((each) => each.name === name)
  assert.ok(row?.unit === 'ms', `${name} is a limit in ms`)
  return row.default / 1_000
}

/**
 * How long a stop may take: what kills the service has to wait for longer. `drainIdle` and `shutdownTimeout` begin
 * together, so that their sum leaves time for `onClose` hooks.
 */
export function stopTime(start: readonly string[]): number {
  assert.doesNotMatch(fileOf('main.ts'), /limits:/, 'the app has the default limits, of which this sum is')
  return (
    seconds(optionOf(start, 'drain-delay') ?? '0s') +
    limitOf('drainIdle') +
    limitOf('shutdownTimeout') +
    killDelay
  )
}

const startOptions = ['workers', 'start-timeout', 'hang-timeout', 'max-memory', 'drain-delay', 'control']

/** The module that a command `volant start` runs. Fails for one that is written differently. */
export function moduleOf(start: readonly string[]): string {
  const [node, bin, command, module = '', ...options] = start
  assert.match(node ?? '', /^(\/usr\/bin\/)?node$/, 'no shell and no npm stands between')
  assert.match(bin ?? '', /(^|\/)node_modules\/\.bin\/volant$/)
  assert.equal(command, 'start')
  for (const [at, option] of options.entries()) {
    if (at % 2 === 1) assert.doesNotMatch(option, /^-/, `${options[at - 1]} has a value`)
    else assert.ok(startOptions.includes(option.replace(/^--/, '')), `volant start has no option ${option}`)
  }
  assert.equal(options.length % 2, 0)
  return module
}

/** The value of an option of such a command. */
export function optionOf(start: readonly string[], name: string): string | undefined {
  const at = start.indexOf(`--${name}`)
  return at < 0 ? undefined : start[at + 1]
}

const units: Readonly<Record<string, number>> = { '': 1, ms: 0.001, s: 1, m: 60, min: 60, h: 3_600 }

/** A duration as Compose, systemd, HAProxy and the command write it, such as `1m30s`, in s. */
export function seconds(text: string): number {
  assert.match(text, /^(\d+(ms|s|min|m|h)? ?)+$/, `${text} is a duration`)
  const parts = [...text.matchAll(/(\d+)(ms|s|min|m|h)?/g)]
  return parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (units[unit] ?? NaN), 0)
}
