/** Socket files at which workers listen. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { askOnce, Cluster, withCluster } from '../../src/index.ts'

describe('start', { concurrency: 4 }, () => {
  test('a socket file: a stale one is replaced, and it is removed at the end', async () => {
    const text = `
import { createApp } from 'volant'
const app = createApp()
app.get('/', () => String(process.pid))
await app.listen({ path: './app.sock' })
`
    await withCluster({ files: { 'main.js': text } }, async (cluster) => {
      const path = join(cluster.folder, 'app.sock')
      const pids = new Set<string>()
      for (let count = 0; count < 6; count++) pids.add((await askOnce(path)).text)
      assert.equal(pids.size, 2)
      cluster.signal('SIGKILL')
      await cluster.exit()
      assert.ok(existsSync(path), 'the stale file')
      const next = new Cluster({ files: {}, module: join(cluster.folder, 'main.js') })
      try {
        // The path is that of the folder in which the command runs.
        await next.says(/listening/)
        const other = join(next.folder, 'app.sock')
        assert.equal((await askOnce(other)).status, 200)
        next.signal('SIGTERM')
        assert.equal(await next.exit(), 0)
        assert.equal(existsSync(other), false)
      } finally {
        await next.end()
      }
    })
  })

  test('node-http: a socket file, whose path the app is told', () => {
    const text = `
import { createApp } from 'volant'
const app = createApp({ adapter: { type: 'node-http' } })
app.get('/', () => address)
const address = await app.listen({ path: './app.sock' })
`
    return withCluster({ files: { 'main.js': text } }, async (cluster) => {
      const { text: said } = await askOnce(join(cluster.folder, 'app.sock'))
      assert.equal(JSON.parse(said).path, './app.sock')
      cluster.signal('SIGTERM')
      assert.equal(await cluster.exit(), 0)
      assert.equal(existsSync(join(cluster.folder, 'app.sock')), false)
    })
  })

  test('a stale socket file in the same folder is replaced', async () => {
    const text = (path: string): string => `
import { createApp } from 'volant'
const app = createApp()
app.get('/', () => String(process.pid))
await app.listen({ path: ${JSON.stringify(path)} })
`
    await withCluster({ files: { 'main.js': text('./app.sock') } }, async (cluster) => {
      const path = join(cluster.folder, 'app.sock')
      cluster.signal('SIGKILL')
      await cluster.exit()
      await withCluster({ files: { 'main.js': text(path) } }, async (next) => {
        assert.equal((await askOnce(path)).status, 200)
        next.signal('SIGTERM')
        assert.equal(await next.exit(), 0)
        assert.equal(existsSync(path), false)
      })
    })
  })
})
