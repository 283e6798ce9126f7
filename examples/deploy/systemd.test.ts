/** app.service and app.socket: by systemd itself where it is installed, and the times of a stop. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileOf, moduleOf, optionOf, seconds, stopTime } from './deployed.ts'

const withoutSystemd =
  spawnSync('systemd-analyze', ['--version']).status === 0 ? false : 'systemd-analyze is not installed'

/** A unit's settings: `Service.User`. Fails for a line that is none, and for a name that stands twice. */
function unitOf(name: string): Record<string, string> {
  const settings: Record<string, string> = { __proto__: null as never }
  let section = ''
  for (const line of fileOf(name).split('\n')) {
    if (line === '' || line.startsWith('#')) continue
    const [, head] = /^\[(\w+)\]$/.exec(line) ?? []
    if (head !== undefined) {
      section = head
      continue
    }
    const [, key, value = ''] = /^([A-Z]\w+)=(.*)$/.exec(line) ?? []
    assert.ok(key !== undefined && section !== '', `${name}: ${line}`)
    assert.ok(!(`${section}.${key}` in settings), `${name}: ${key} stands once`)
    settings[`${section}.${key}`] = value
  }
  return settings
}

/** What `systemd-analyze verify` says of both units, with a program that there is here. */
function verdict(service: string, socket: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'volant-units-'))
  try {
    writeFileSync(join(folder, 'app.service'), service.replace('/usr/bin/node', process.execPath))
    writeFileSync(join(folder, 'app.socket'), socket)
    const files = ['app.service', 'app.socket'].map((name) => join(folder, name))
    const { stderr, status } = spawnSync('systemd-analyze', ['verify', '--man=no', ...files], {
      encoding: 'utf8',
    })
    const ours = stderr.split('\n').filter((line) => line.includes('app.'))
    return [...ours, ...(status === 0 ? [] : [`exit code ${status}`])].join('\n')
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe('app.service and app.socket', () => {
  const service = unitOf('app.service')
  const socket = unitOf('app.socket')
  const start = (service['Service.ExecStart'] ?? '').split(' ')
  const environment = Object.fromEntries(
    (service['Service.Environment'] ?? '').split(' ').map((each) => each.split('=') as [string, string]),
  )

  test('systemd finds nothing wrong with them, and would', { skip: withoutSystemd }, () => {
    assert.equal(verdict(fileOf('app.service'), fileOf('app.socket')), '')
    const misspelt = fileOf('app.service').replace('WatchdogSec', 'WatchdogSecs')
    assert.match(verdict(misspelt, fileOf('app.socket')), /WatchdogSecs/)
    const nonsense = fileOf('app.socket').replace(/ListenStream=.*/, 'ListenStream=nowhere:port')
    assert.match(verdict(fileOf('app.service'), nonsense), /app\.socket/)
  })

  test('the service lives until it has stopped, and one signal goes to the supervisor alone', () => {
    const stop = seconds(service['Service.TimeoutStopSec'] ?? '90')
    assert.ok(stop > stopTime(start), `TimeoutStopSec is ${stop} s`)
    assert.equal(service['Service.KillMode'], 'mixed')
  })

  test('systemd waits for longer than the supervisor, which replaces workers itself', () => {
    const hang = seconds(optionOf(start, 'hang-timeout') ?? '30s')
    const begin = seconds(optionOf(start, 'start-timeout') ?? '30s')
    assert.ok(seconds(service['Service.WatchdogSec'] ?? '0') > hang + begin)
    assert.ok(seconds(service['Service.TimeoutStartSec'] ?? '90') > 3 * begin)
    assert.equal(service['Service.Type'], 'notify')
    assert.equal(service['Service.NotifyAccess'], 'main')
    assert.equal(service['Service.ExecReload'], '/bin/kill -HUP $MAINPID')
    assert.equal(service['Service.Restart'], 'on-failure')
  })

  test('the command is that of the project, in its folder', () => {
    assert.equal(moduleOf(start), `${service['Service.WorkingDirectory']}/dist/main.js`)
    assert.ok(start[1]?.startsWith(`${service['Service.WorkingDirectory']}/`))
  })

  test('the socket is at the address at which the app listens', () => {
    assert.equal(socket['Socket.ListenStream'], `${environment['HOST']}:${environment['PORT']}`)
    assert.equal(service['Unit.Requires'], 'app.socket')
  })

  test('what the workers share is in Redis', () => {
    assert.match(environment['REDIS_URL'] ?? '', /^redis:/)
    assert.equal(optionOf(start, 'workers'), 'auto')
  })

  test('the service is not root, and may not write where it need not', () => {
    assert.equal(service['Service.User'], 'app')
    assert.equal(service['Service.ProtectSystem'], 'strict')
    assert.equal(service['Service.NoNewPrivileges'], 'yes')
    assert.equal(service['Service.ProtectProc'], 'invisible')
    for (const limit of ['TasksMax', 'MemoryMax']) assert.match(service[`Service.${limit}`] ?? '', /^\d+%?$/)
    assert.equal(service['Service.MemoryDenyWriteExecute'], undefined, 'V8 could not compile')
  })
})
