import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { coded, type Kit, within } from '../kit.ts'

/** The kernel gives each of two processes every second connection or so. */
const mostAsked = 1_000

export function sharedPort(kit: Kit): void {
  const has = hasReusePort(kit)

  describe(
    'processes that share a port',
    { skip: process.platform === 'linux' ? false : 'Linux has it' },
    () => {
      test(
        'reusePort: two processes on one port are both reached, and one alone when the other has closed',
        { skip: has ? false : 'this Node.js has no reusePort for node:http' },
        async () => {
          const first = await Sharer.start(kit, 0)
          const second = await Sharer.start(kit, first.port)
          try {
            assert.equal(second.port, first.port)
            const reached = new Set<number>()
            for (let asked = 0; reached.size < 2 && asked < mostAsked; asked++) reached.add(await first.ask())
            assert.deepEqual([...reached].toSorted(), [first.pid, second.pid].toSorted())
            await second.stop()
            for (let asked = 0; asked < 20; asked++) assert.equal(await first.ask(), first.pid)
          } finally {
            await first.stop()
            await second.stop()
          }
        },
      )

      test('without reusePort a port that is shared is in use', { skip: !has }, async () => {
        const first = await Sharer.start(kit, 0)
        try {
          await assert.rejects(kit.app().listen(first.port, '127.0.0.1'), coded('EADDRINUSE', /in use/))
        } finally {
          await first.stop()
        }
      })

      test('with reusePort a port that is not shared is in use', { skip: !has }, async () => {
        const app = kit.app()
        const { port } = await app.listen({ port: 0, host: '127.0.0.1' })
        const other = kit.app().listen({ port: port as number, host: '127.0.0.1', reusePort: true })
        try {
          await assert.rejects(other, coded('EADDRINUSE', /all of them set reusePort/))
        } finally {
          await app.close()
        }
      })

      test('a Node.js whose node:http has no reusePort refuses it by name', { skip: has }, () =>
        assert.rejects(kit.app().listen({ port: 0, reusePort: true }), coded('E_UNSUPPORTED', /reusePort/)),
      )

      test(
        'a system whose reusePort does not spread connections refuses it by name',
        { skip: kit.adapter === 'node-http' ? 'node:net asks the system itself' : false },
        async () => {
          const app = kit.app()
          const { platform } = process
          Object.defineProperty(process, 'platform', { value: 'darwin' })
          try {
            const listening = app.listen({ port: 0, reusePort: true })
            await assert.rejects(listening, coded('E_UNSUPPORTED', /reusePort.*needs Linux/))
          } finally {
            Object.defineProperty(process, 'platform', { value: platform })
          }
        },
      )

      test('a Unix socket is not shared', async () => {
        const listening = kit.app().listen({ path: '/tmp/volant-shared.sock', reusePort: true })
        await assert.rejects(listening, coded('E_BAD_OPTION', /reusePort takes a port/))
      })
    },
  )
}

function hasReusePort({ adapter }: Kit): boolean {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  return (
    adapter !== 'node-http' || major >= 24 || (major === 23 && minor >= 1) || (major === 22 && minor >= 12)
  )
}

/** A process that answers with its id on a port it shares. */
class Sharer {
  readonly port: number
  readonly pid: number
  readonly #child: ChildProcess
  readonly #exit: Promise<unknown>

  private constructor(child: ChildProcess, port: number, exit: Promise<unknown>) {
    this.#child = child
    this.pid = child.pid as number
    this.port = port
    this.#exit = exit
  }

  static async start({ adapter }: Kit, port: number): Promise<Sharer> {
    const script = `
      import { createApp } from ${JSON.stringify(import.meta.resolve('volant'))}
      const app = createApp({ adapter: { type: ${JSON.stringify(adapter)} } })
      app.get('/', () => String(process.pid))
      console.log((await app.listen({ port: ${port}, host: '127.0.0.1', reusePort: true })).port)`
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const exit = once(child, 'exit')
    const said = once(createInterface(child.stdout), 'line')
    const line = Promise.race([said, exit.then(() => Promise.reject(new Error('the child ended')))])
    const [text] = (await within(line, 'the start of a child')) as [string]
    return new Sharer(child, Number(text), exit)
  }

  /** The process that answers a new connection. */
  async ask(): Promise<number> {
    const reply = await fetch(`http://127.0.0.1:${this.port}/`, { headers: { connection: 'close' } })
    return Number(await reply.text())
  }

  async stop(): Promise<void> {
    this.#child.kill()
    await within(this.#exit, 'the end of a child')
  }
}
