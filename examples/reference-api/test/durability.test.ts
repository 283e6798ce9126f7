import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const entry = fileURLToPath(new URL('../src/server.js', import.meta.url))

test('a user answered with 201 survives kill -9, twenty times', { timeout: 300_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'reference-api-'))
  const env = {
    ...process.env,
    DATABASE: join(folder, 'test.db'),
    PORT: '0',
    HOST: '127.0.0.1',
    API_TOKEN: 't',
    MAX_DELAY: '9999', // a busy machine refuses no request here
  }
  let { child, url } = await start(env)
  try {
    for (let round = 0; round < 20; round++) {
      const user = { name: `Round ${round}`, email: `round${round}@example.com`, age: 40 }
      const reply = await fetch(`${url}/api/users`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(user),
      })
      await kill(child)
      assert.equal(reply.status, 201)
      const location = reply.headers.get('location') ?? ''
      ;({ child, url } = await start(env))
      const stored = await fetch(url + location, { headers: { authorization: 'Bearer t' } })
      assert.equal(stored.status, 200, `round ${round}`)
      const { id, ...rest } = ((await stored.json()) as { user: typeof user & { id: number } }).user
      assert.deepEqual(rest, user)
      assert.equal(location, `/api/users/${id}`)
    }
  } finally {
    await kill(child)
    rmSync(folder, { recursive: true })
  }
})

test('SIGTERM ends the service with exit code 0', { timeout: 120_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'reference-api-'))
  const env = { ...process.env, DATABASE: join(folder, 'test.db'), PORT: '0', HOST: '127.0.0.1' }
  const { child } = await start(env)
  child.kill('SIGTERM')
  const [code] = await once(child, 'exit')
  assert.equal(code, 0)
  rmSync(folder, { recursive: true })
})

async function start(env: NodeJS.ProcessEnv): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, [entry], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /http:\/\/\S+/.exec(line)?.[0]
    if (url) {
      child.stdout.resume()
      return { child, url }
    }
  }
  throw new Error('The service ended before it listened')
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL')
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}
