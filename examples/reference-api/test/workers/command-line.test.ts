/** Mistakes in the command line of several workers. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { server, timeout } from './kit.ts'

test('a mistake is told once, before a worker starts', { timeout }, () => {
  const { NODE_ENV: _, API_TOKEN: _token, ...env } = process.env
  for (const [args, variables, message] of [
    [['--profile', 'veloxts'], {}, /^the profile veloxts keeps its users in memory/],
    [['--tls', join(tmpdir(), `volant-none-${process.pid}`)], {}, /^no certificate for HTTPS/],
    [[], { NODE_ENV: 'production' }, /^API_TOKEN is not set/],
  ] as const) {
    const { status, stdout, stderr } = spawnSync(process.execPath, [server, '--workers', '2', ...args], {
      env: { ...env, ...variables },
      encoding: 'utf8',
    })
    assert.equal(status, 2, stderr)
    assert.equal(stdout, '')
    assert.match(stderr, message)
    assert.equal(stderr.trim().split('\n').length, 1)
  }
})
