import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createApp } from '../src/index.ts'

test('a limit the adapter cannot enforce is warned about once, and only when it was changed', async (t) => {
  const written: string[] = []
  t.mock.method(process.stderr, 'write', (text: string) => {
    written.push(text)
    return true
  })
  for (const limits of [{}, { maxChunkExtensions: 100 }, { maxChunkExtensions: 100 }]) {
    const app = createApp({ adapter: { type: 'node-http' }, limits, signals: false })
    await app.listen({ port: 0, host: '127.0.0.1' })
    await app.close()
  }
  assert.deepEqual(written, ['volant: the adapter node-http cannot enforce maxChunkExtensions\n'])
})
