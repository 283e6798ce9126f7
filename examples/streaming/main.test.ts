import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { eventually } from '@volant/test-kit'

process.env.PORT = '0'
const example = await import('./main.ts')
const { app, url } = example
after(() => app.close({ drainIdle: 0 }))

test('a generator is the body', async () => {
  const reply = await fetch(`${url}/rows.csv`)
  assert.equal(reply.headers.get('content-type'), 'text/csv; charset=utf-8')
  const lines = (await reply.text()).trimEnd().split('\n')
  assert.equal(lines.length, 1_001)
  assert.equal(lines[1_000], '1000,user 1000')
})

test('events arrive as they happen, and end when the client leaves', async () => {
  const client = new AbortController()
  const reply = await fetch(`${url}/clock`, { signal: client.signal })
  assert.equal(reply.headers.get('content-type'), 'text/event-stream')
  const reader = reply.body!.getReader()
  const { value } = await reader.read()
  assert.match(Buffer.from(value!).toString(), /^data: \d{4}-.*Z\n\n$/)
  assert.equal(example.watching, 1)
  client.abort()
  await eventually(() => example.watching === 0, 'the generator has ended')
})

test('events end when the app closes', async () => {
  const reply = await fetch(`${url}/clock`)
  const reader = reply.body!.getReader()
  await reader.read()
  await app.close({ drainIdle: 0 })
  while (!(await reader.read()).done);
  assert.equal(example.watching, 0)
})
