/** What systemd is told. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { eventually } from '@volant/test-kit'
import { appOf, askOnce, withCluster } from '../../src/index.ts'

/** Prints each datagram that comes to the socket of its argument, as one line of JSON. */
const manager = `
import json, socket, sys
found = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
found.bind(sys.argv[1].replace('@', chr(0), 1))
print('bound', flush=True)
while True:
    print(json.dumps(found.recv(65536).decode()), flush=True)
`

const last = `
import socket, sys
socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'last', sys.argv[1].replace('@', chr(0), 1))
`

class ServiceManager {
  readonly messages: string[] = []
  readonly #process: ChildProcess
  #isBound = false

  readonly address: string

  constructor(address: string) {
    this.address = address
    this.#process = spawn('python3', ['-c', manager, address], { stdio: ['ignore', 'pipe', 'inherit'] })
    let rest = ''
    this.#process.stdout?.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n')
      rest = lines.pop() as string
      for (const line of lines) {
        if (line === 'bound') this.#isBound = true
        else this.messages.push(JSON.parse(line) as string)
      }
    })
  }

  bound(): Promise<void> {
    return eventually(() => this.#isBound, 'the manager listens')
  }

  /** Waits until all has come that was sent so far: what this sends comes after it. */
  async hearsAll(): Promise<void> {
    spawnSync('python3', ['-c', last, this.address])
    await eventually(() => this.messages.includes('last'), 'the last message')
  }

  async end(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return
    const exit = once(this.#process, 'exit')
    this.#process.kill('SIGKILL')
    await exit
  }
}

describe('systemd', { concurrency: 4, skip: process.platform === 'linux' ? false : 'Linux' }, () => {
  for (const kind of ['path', 'abstract']) {
    test(`notify by ${kind}: READY when all serve, RELOADING, STOPPING, and signs of life`, async () => {
      const name = `volant-${process.pid}-${kind}`
      const told = new ServiceManager(kind === 'path' ? `/tmp/${name}` : `@${name}`)
      try {
        await told.bound()
        const env = { NOTIFY_SOCKET: told.address, WATCHDOG_USEC: '2000000' }
        const app = appOf({
          before: "app.get('/env', () => String(process.env.NOTIFY_SOCKET ?? process.env.WATCHDOG_USEC))",
        })
        await withCluster(
          { workers: 2, env, files: { 'main.js': app }, holdsClock: true },
          async (cluster) => {
            const has = (what: RegExp): boolean => told.messages.some((each) => what.test(each))
            await eventually(() => has(/^READY=1\n/), 'READY')
            assert.equal((await askOnce(cluster.port, '/env')).text, 'undefined')
            const beats = (): number => told.messages.filter((each) => each === 'WATCHDOG=1').length
            const first = beats()
            for (let second = 1; second <= 3; second++) {
              await cluster.advance(1_000)
              await eventually(() => beats() === first + second, 'a sign of life')
            }
            cluster.signal('SIGHUP')
            await cluster.until(({ restarts, isRolling }) => restarts.roll === 2 && !isRolling, 'the roll')
            await eventually(
              () => told.messages.filter((each) => each.startsWith('READY=1\n')).length === 2,
              'READY again',
            )
            assert.equal(
              told.messages.filter((each) => /^RELOADING=1\nMONOTONIC_USEC=\d+\n/.test(each)).length,
              1,
            )
            cluster.write('main.js', 'await new Promise((resolve) => setTimeout(resolve, 60000))')
            cluster.signal('SIGHUP')
            await cluster.until(({ isRolling }) => isRolling, 'another roll')
            await cluster.stop()
            await cluster.advance(0)
            assert.equal(await cluster.exit(), 0)
            await told.hearsAll()
            assert.ok(has(/^STOPPING=1\n/))
            const stopping = told.messages.findIndex((each) => each.startsWith('STOPPING=1'))
            assert.ok(
              !told.messages.slice(stopping).some((each) => each.startsWith('READY=1')),
              told.messages.join('\n'),
            )
          },
        )
      } finally {
        await told.end()
        spawn('rm', ['-f', `/tmp/${name}`])
      }
    })
  }
})
