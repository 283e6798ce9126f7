import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { eventually } from '@volant/test-kit'

test('two workers answer, are replaced on SIGHUP while requests are answered, and end on SIGTERM', async () => {
  const child = spawn(process.execPath, [fileURLToPath(new URL('all-cores.js', import.meta.url))], {
    env: { ...process.env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const first = (await lines.next()).value as string
  const [, url] = /^volant: listening on (\S+) \(2 workers\)$/.exec(first) ?? []
  assert.ok(url, first)

  const ask = async (): Promise<{ pid: number; worker: number; workers: number }> => {
    // Each request has a connection of its own, and connections are spread over the workers.
    const reply = await fetch(`${url}/`, { headers: { connection: 'close' } })
    assert.equal(reply.status, 200)
    return (await reply.json()) as { pid: number; worker: number; workers: number }
  }
  const before = [await ask(), await ask()]
  assert.deepEqual(before.map(({ worker }) => worker).toSorted(), [0, 1])
  assert.equal(before[0]?.workers, 2)

  child.kill('SIGHUP')
  const old = new Set(before.map(({ pid }) => pid))
  const replaced = new Set<number>()
  await eventually(async () => {
    const { pid, worker } = await ask()
    if (!old.has(pid)) replaced.add(worker)
    return replaced.size === 2
  }, 'both are replaced')
  assert.deepEqual([...replaced].toSorted(), [0, 1])

  child.kill('SIGTERM')
  assert.deepEqual(await ended, [0, null])
  await assert.rejects(fetch(`${url}/`))
})
