import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createTRPCClient, httpBatchLink } from '@trpc/client'
import type { AppRouter } from './main.ts'

process.env.PORT = '0'
const { app, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))

test('its client does not see a difference', async () => {
  const client = createTRPCClient<AppRouter>({
    links: [httpBatchLink({ url: `${url}/trpc`, headers: { 'x-user': 'Ada' } })],
  })
  const greetings = await Promise.all([
    client.greet.query({ name: 'Bob' }),
    client.greet.query({ name: 'Cy' }),
  ])
  assert.deepEqual(greetings, ['Ada greets Bob', 'Ada greets Cy'])
})
