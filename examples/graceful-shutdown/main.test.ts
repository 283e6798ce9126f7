import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

test('a request in flight is answered, then the process ends by itself', async () => {
  const child = spawn(process.execPath, [fileURLToPath(new URL('main.js', import.meta.url))], {
    env: { ...process.env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const line = (await lines.next()).value as string
  // With a name, each connection would wait for a lookup of its own, and the second one might be made first.
  const url = line.replace('Listening on http://localhost', 'http://127.0.0.1')

  const connected = fetch(`${url}/slow`)
  // By now the server has seen the request before it. A connection that is idle would stay for 5 s; that it does not keep
  // the process is in conformance/adapters/test/engine-exit.test.ts.
  await fetch(`${url}/nowhere`, { headers: { connection: 'close' } })
  child.kill('SIGTERM')
  assert.equal(await (await connected).text(), 'done, although the server was told to stop')
  assert.equal((await lines.next()).value, 'closing the database')
  assert.deepEqual(await ended, [0, null])
})
