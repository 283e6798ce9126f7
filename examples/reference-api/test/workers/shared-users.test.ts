/** What the workers of the service share: users, tokens and limits. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { timeout, Client, serving } from './kit.ts'

const folder = mkdtempSync(join(tmpdir(), 'reference-workers-'))
after(() => rmSync(folder, { recursive: true }))

test('each worker has the users of the others, and takes the same token', { timeout }, async () => {
  await serving(4, {}, async (url) => {
    const clients: Client[] = []
    try {
      const reached = new Map<unknown, Client>()
      // A worker that is new has a few more connections, or fewer, than its share.
      for (let count = 0; reached.size < 4 && count < 100; count++) {
        const client = new Client(url)
        clients.push(client)
        reached.set((await client.figures()).workers?.here, client)
      }
      assert.equal(reached.size, 4)
      const [first, ...others] = [...reached.values()] as [Client, ...Client[]]
      const user = { name: 'Alice', email: 'alice@example.com', age: 25 }
      const added = await first.ask('/api/users', {}, user)
      assert.equal(added.status, 201, added.body)
      const stored = JSON.parse(added.body) as { user: { id: number } }
      // All of them have opened a file that was not there, and its users were made once.
      assert.equal(stored.user.id, 1_001)
      for (const client of others) {
        const found = await client.ask('/api/users/1001', { authorization: 'Bearer valid-token' })
        assert.deepEqual(JSON.parse(found.body), stored)
        assert.equal((await client.ask('/api/users', {}, user)).status, 409)
      }
    } finally {
      for (const client of clients) client.close()
    }
  })
})

test(
  'an address may add as many users as RATE_LIMIT says, whichever workers it meets',
  { timeout },
  async () => {
    await serving(2, { RATE_LIMIT: '5' }, async (url) => {
      const here = new Set<unknown>()
      const began = performance.now()
      const statuses: number[] = []
      for (let count = 0; (count < 12 || here.size < 2) && count < 100; count++) {
        const client = new Client(url)
        try {
          here.add((await client.figures()).workers?.here)
          const user = { name: 'Carol', email: `carol${count}@example.com`, age: 25 }
          statuses.push((await client.ask('/api/users', {}, user)).status)
        } finally {
          client.close()
        }
      }
      assert.equal(here.size, 2)
      assert.deepEqual(new Set(statuses), new Set([201, 429]))
      assert.deepEqual(statuses.slice(0, 5), Array(5).fill(201))
      // Of five in a minute one comes back every 12 s.
      const returned = Math.floor((performance.now() - began) / 12_000)
      assert.ok(statuses.filter((status) => status === 201).length <= 5 + returned, String(statuses))
    })
  },
)

test('processes that open a new database at once wait for each other', { timeout }, async () => {
  const sqlite = new URL('../../src/sqlite.js', import.meta.url).href
  const file = join(folder, 'at-once.db')
  // Each says that it is ready, and opens the file when it is told to.
  const script = `
    import { once } from 'node:events'
    const { openSqlite } = await import(${JSON.stringify(sqlite)})
    process.send('ready')
    await once(process, 'message')
    const { db } = openSqlite(${JSON.stringify(file)})
    process.send(db.prepare('SELECT count(*) AS users FROM users').get())
    process.disconnect()`
  const stdio = ['ignore', 'inherit', 'inherit', 'ipc'] as const
  const children = Array.from({ length: 8 }, () =>
    spawn(process.execPath, ['--input-type=module', '--eval', script], { stdio: [...stdio] }),
  )
  const ended = children.map((child) => once(child, 'exit'))
  await Promise.all(children.map((child) => once(child, 'message')))
  const counted = children.map((child) => once(child, 'message'))
  for (const child of children) child.send('open')
  assert.deepEqual(await Promise.all(ended), Array(8).fill([0, null]))
  for (const [{ users }] of await Promise.all(counted)) assert.equal(users, 1_000)
})
