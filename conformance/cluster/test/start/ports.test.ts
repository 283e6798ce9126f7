/** The ports that `volant start` opens, which are the same in all workers. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { freePort } from '@volant/test-kit'
import { appOf, askOnce, Connection, runToEnd, withCluster } from '../../src/index.ts'

describe('start', { concurrency: 4 }, () => {
  test('connections come when all that stands before listen is done, and port 0 is one port for all', () =>
    withCluster(
      { workers: 3, files: { 'main.js': appOf({ before: 'await sleep(100 * (worker.id + 1))' }) } },
      async (cluster) => {
        assert.match(cluster.output, /^volant: listening on http:\/\/127\.0\.0\.1:\d+ \(3 workers\)\n$/)
        const seen = new Set<number>()
        for (let count = 0; count < 12; count++) {
          const { worker, count: all } = JSON.parse((await askOnce(cluster.port)).text)
          seen.add(worker)
          assert.equal(all, 3)
        }
        assert.deepEqual([...seen].toSorted(), [0, 1, 2])
      },
    ))

  test('several apps of a process have ports of their own, the same in all workers', () =>
    withCluster(
      {
        files: {
          'main.js': `
import { createApp } from 'volant'
const apps = [createApp(), createApp()]
// The first one may be asked before the second one listens.
apps[0].get('/', async () => ({ app: 0, ports: await ports }))
apps[1].get('/', async () => ({ app: 1, ports: await ports }))
const ports = (async () => {
  const all = []
  for (const app of apps) all.push(String((await app.listen(0, '127.0.0.1')).port))
  return all
})()
`,
        },
      },
      async (cluster) => {
        const first = JSON.parse((await askOnce(cluster.port)).text)
        assert.equal(first.app, 0)
        for (let count = 0; count < 6; count++) {
          for (const app of [0, 1]) {
            const said = JSON.parse((await askOnce(Number(first.ports[app]))).text)
            assert.deepEqual(said, { app, ports: first.ports })
          }
        }
      },
    ))

  test('connections that wait for an app which a ready worker has not started yet are not lost', () =>
    withCluster(
      {
        workers: 1,
        files: {
          'main.js': appOf({
            before: `
app.get('/again', async (ctx) => {
  const other = createApp()
  other.get('/', () => 'the other')
  end = () => other.close({ drainIdle: 0 })
  await other.listen({ port: Number(ctx.query.port), host: '127.0.0.1' })
  return 'ok'
})
let end
app.get('/end', async () => {
  await end()
  return 'ok'
})`,
          }),
        },
      },
      async (cluster) => {
        const port = await freePort()
        // The first listen binds the port, and the connections of the following ones wait for it.
        for (let round = 0; round < 10; round++) {
          const waiting = await Promise.all(
            Array.from({ length: round === 0 ? 0 : 3 }, () => Connection.open(port)),
          )
          const all = Promise.all(waiting.map((each) => each.ask('/', { close: true })))
          assert.equal((await askOnce(cluster.port, `/again?port=${port}`)).status, 200)
          for (const { status, text } of await all) {
            assert.equal(status, 200)
            assert.equal(text, 'the other')
          }
          for (const each of waiting) each.close()
          assert.equal((await askOnce(cluster.port, '/end')).status, 200)
        }
      },
    ))

  test('a port in use is told as by one process, and the third failure ends the supervisor', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    try {
      const { code, output } = await runToEnd({ env: { PORT: String(port) } })
      assert.equal(code, 1)
      assert.match(output, new RegExp(`port ${port}.* in use`))
      assert.match(output, /none ever served: the supervisor ends/)
    } finally {
      server.close()
    }
  })

  test('two apps of a process at one port are told so, as in one process', async () => {
    const { code, output } = await runToEnd({
      workers: 1,
      env: { PORT: String(await freePort()) },
      files: {
        'main.js': `
import { createApp } from 'volant'
const port = Number(process.env.PORT)
await createApp().listen(port, '127.0.0.1')
await createApp().listen(port, '127.0.0.1').catch((error) => {
  console.log(error.code + ': ' + error.message)
  process.kill(${'process.ppid'}, 'SIGTERM')
})
`,
      },
    })
    assert.match(output, /EADDRINUSE: .*in use/)
    assert.equal(code, 0)
  })
})
