/** Adapters in workers, and WebSockets. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { describe, test } from 'node:test'
import { appOf, askOnce, runToEnd, withCluster } from '../../src/index.ts'

describe('start', { concurrency: 4 }, () => {
  test('uwebsockets is refused with a sentence', { skip: skipUws() }, async () => {
    const { code, output } = await runToEnd({
      workers: 1,
      files: { 'main.js': appOf({ adapter: 'uwebsockets' }) },
    })
    assert.equal(code, 1)
    assert.match(output, /the adapter uwebsockets cannot get connections from a supervisor: run its app/)
  })

  test('node-http shares the listening socket: requests are answered, and a worker that is stopped holds nobody up', () =>
    withCluster({ files: { 'main.js': appOf({ adapter: 'node-http' }) } }, async (cluster) => {
      const [first] = await cluster.workers()
      process.kill(first?.pid as number, 'SIGSTOP')
      for (let count = 0; count < 8; count++) {
        const { pid } = JSON.parse((await askOnce(cluster.port)).text)
        assert.notEqual(pid, first?.pid)
      }
      process.kill(first?.pid as number, 'SIGCONT')
    }))

  const { WebSocket: Native } = globalThis as { WebSocket?: typeof WebSocket }

  const skip = Native === undefined && 'this Node.js has no global WebSocket'

  test('a WebSocket stays with its worker', { skip }, () =>
    withCluster(
      {
        files: {
          'main.js': appOf({
            before: "app.ws('/socket', { message: (socket) => void socket.send(String(process.pid)) })",
          }),
        },
      },
      async (cluster) => {
        const sockets = Array.from(
          { length: 6 },
          () => new (Native as typeof WebSocket)(`ws://127.0.0.1:${cluster.port}/socket`),
        )
        await Promise.all(sockets.map((socket) => once(socket, 'open')))
        const said = sockets.map(() => new Set<string>())
        for (let count = 0; count < 3; count++) {
          for (const [index, socket] of sockets.entries()) {
            const message = once(socket, 'message') as Promise<[MessageEvent]>
            socket.send('who')
            said[index]?.add(String((await message)[0].data))
          }
        }
        for (const socket of sockets) socket.close()
        for (const pids of said) assert.equal(pids.size, 1)
        const pids = (await cluster.workers()).map(({ pid }) => String(pid))
        assert.equal(pids.length, 2)
        assert.deepEqual([...new Set(said.flatMap((each) => [...each]))].toSorted(), pids.toSorted())
      },
    ),
  )
})

function skipUws(): string | false {
  try {
    createRequire(import.meta.resolve('volant'))('uWebSockets.js')
    return false
  } catch {
    return 'uWebSockets.js does not load here'
  }
}
