import assert from 'node:assert/strict'
import cluster from 'node:cluster'
import { test } from 'node:test'
import { createApp } from 'volant'

test('a second worker of node:cluster is told why it cannot have the port', async (t) => {
  const app = createApp({ signals: false })
  if (app.adapterName !== 'native') return t.skip('the native engine is not there')
  const { port } = await app.listen(0, '127.0.0.1')
  cluster.setupPrimary({
    exec: new URL('./engine/cluster-worker.js', import.meta.url).pathname,
    args: [String(port)],
    silent: true,
  })
  const worker = cluster.fork()
  try {
    const told = await new Promise<{ code: string; message: string }>((resolve) => {
      worker.once('message', resolve)
    })
    assert.equal(told.code, 'EADDRINUSE')
    assert.match(told.message, /node:cluster.*reusePort: true.*node-http/)
  } finally {
    worker.kill()
    await app.close()
  }
})
