import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createTRPCClient, createWSClient, wsLink } from '@trpc/client'
import WebSocket from 'ws'
import type { SocketRouter } from './sockets.ts'

process.env.PORT = '0'
const { app, url } = await import('./sockets.ts')
after(() => app.close({ drainIdle: 0 }))

test('calls and a subscription share a WebSocket', async () => {
  const socket = createWSClient({
    url: `${url.replace('http', 'ws')}/trpc?user=Ada`,
    WebSocket: WebSocket as unknown as typeof globalThis.WebSocket,
  })
  const client = createTRPCClient<SocketRouter>({ links: [wsLink({ client: socket })] })
  const counts: number[] = []
  const complete = new Promise<void>((onComplete, onError) => {
    client.count.subscribe({ to: 3 }, { onData: ({ data }) => counts.push(data), onComplete, onError })
  })
  assert.equal(await client.greet.query({ name: 'Bob' }), 'Ada greets Bob')
  await complete
  assert.deepEqual(counts, [1, 2, 3])
  assert.equal(app.stats().sockets, 1)
  await socket.close()
})
