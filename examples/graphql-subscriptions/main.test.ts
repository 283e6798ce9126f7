import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createClient } from 'graphql-ws'
import WebSocket from 'ws'

process.env.PORT = '0'
const { app, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))

const clientOf = (key: string) =>
  createClient({
    url: `${url.replace('http', 'ws')}/graphql?key=${key}`,
    webSocketImpl: WebSocket,
    retryAttempts: 0,
  })

async function results(key: string, query: string): Promise<unknown[]> {
  const client = clientOf(key)
  const all: unknown[] = []
  try {
    for await (const { data } of client.iterate({ query })) all.push({ ...data })
  } finally {
    await client.dispose()
  }
  return all
}

test('a query knows who asks', async () => {
  assert.deepEqual(await results('key-of-ada', '{ me }'), [{ me: 'Ada' }])
})

test('a subscription gives one value after the other', async () => {
  const counts = await results('key-of-ada', 'subscription { countdown(from: 3) }')
  assert.deepEqual(
    counts,
    [3, 2, 1, 0].map((countdown) => ({ countdown })),
  )
})

test('who has no key does not get a WebSocket', async () => {
  await assert.rejects(results('', '{ me }'))
  const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`)
  const status = await new Promise((resolve, reject) => {
    socket.on('unexpected-response', (_, { statusCode }) => resolve(statusCode))
    socket.on('open', () => reject(new Error('it opened')))
    socket.on('error', reject)
  })
  socket.on('error', () => {})
  socket.terminate()
  assert.equal(status, 401)
})
