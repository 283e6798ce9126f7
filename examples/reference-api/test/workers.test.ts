/** Tests the service in several processes, with the option `--workers`. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { eventually } from '@volant/test-kit'
import type { Figures } from '../src/live.ts'
import { WorkerRates } from '../src/workers.ts'

const server = fileURLToPath(new URL('../src/server.js', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'reference-workers-'))
after(() => rmSync(folder, { recursive: true }))

/** Only a hang takes as long, in ms. */
const timeout = 300_000

/** An address of this machine that others in its network can reach. */
const outside = Object.values(networkInterfaces())
  .flat()
  .find((each) => each?.family === 'IPv4' && !each.internal)?.address

interface Answer {
  readonly status: number
  readonly body: string
}

/** A client with one connection, and hence one worker, for as long as that serves. */
class Client {
  readonly #url: string
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })

  constructor(url: string) {
    this.#url = url
  }

  ask(path: string, headers: Record<string, string> = {}, body?: unknown): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const type = body === undefined ? {} : { 'content-type': 'application/json' }
      const method = body === undefined ? 'GET' : 'POST'
      request(
        this.#url + path,
        { method, agent: this.#agent, headers: { ...type, ...headers } },
        (reply) =>
          void text(reply).then((read) => resolve({ status: reply.statusCode ?? 0, body: read }), reject),
      )
        .on('error', reject)
        .end(body === undefined ? undefined : JSON.stringify(body))
    })
  }

  async figures(headers: Record<string, string> = {}): Promise<Figures> {
    const { status, body } = await this.ask('/live/figures', headers)
    assert.equal(status, 200, body)
    return JSON.parse(body) as Figures
  }

  close(): void {
    this.#agent.destroy()
  }
}

/** Waits until `holds` gives true. */
async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + timeout / 2; !(await holds()); await sleep(50))
    assert.ok(Date.now() < end, what)
}

/** Runs the service with `count` workers on a new database, while `run` asks it. */
async function serving(
  count: number,
  variables: Record<string, string>,
  run: (url: string, child: ChildProcess) => Promise<void>,
): Promise<void> {
  const { NODE_ENV: _, API_TOKEN: _token, ...env } = process.env
  const database = join(mkdtempSync(join(folder, 'data-')), 'users.db')
  const child = spawn(process.execPath, [server, '--workers', String(count), '--port', '0'], {
    // Its guard against load does not refuse requests on a machine that is busy with other tests.
    env: { ...env, HOST: '127.0.0.1', DATABASE: database, MAX_DELAY: '9999', ...variables },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  let said = ''
  child.stdout.on('data', (part) => (said += String(part)))
  try {
    const found = () => /^volant: listening on (\S+) \((\d+) workers\)$/m.exec(said)
    await eventually(() => found() !== null || child.exitCode !== null, 'it listens')
    assert.equal(found()?.[2], String(count), said)
    await run(found()?.[1] as string, child)
    child.kill('SIGTERM')
    assert.deepEqual(await ended, [0, null])
  } finally {
    child.kill('SIGKILL')
    await ended
  }
}

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
  'the figures are of all workers, and the button replaces them without a failed request',
  { timeout },
  async () => {
    await serving(2, { RATE_LIMIT: '60000000', HOST: '0.0.0.0' }, async (listening) => {
      const url = listening.replace('localhost', '127.0.0.1')
      const client = new Client(url)
      const asking = new Client(url)
      try {
        const page = await client.ask('/live')
        assert.match(page.body, /<b id="ready">2<\/b> of 2 ready/)
        assert.match(page.body, /<button type="button" id="restart">/)
        for (let count = 0; count < 20; count++) assert.equal((await asking.ask('/json')).status, 200)
        // Beats come every second.
        let figures = await client.figures()
        await until('the requests to both workers are counted', async () => {
          figures = await client.figures()
          return figures.server.requests >= 20 && figures.rate !== null
        })
        assert.equal(figures.workers?.workers.length, 2)
        const sum = (name: 'memory' | 'requests') =>
          figures.workers?.workers.reduce((total, each) => total + each[name], 0)
        assert.equal(figures.memory.rss, sum('memory'))
        assert.equal(figures.server.requests, sum('requests'))

        const foreign = await client.ask('/live/restart', { 'sec-fetch-site': 'cross-site' }, {})
        assert.equal(foreign.status, 403)
        const rebound = { host: 'evil.example', 'sec-fetch-site': 'same-origin' }
        assert.equal((await client.ask('/live/restart', rebound, {})).status, 421)
        if (outside !== undefined) {
          const other = new Client(`http://${outside}:${new URL(url).port}`)
          assert.equal((await other.ask('/live')).status, 200)
          const named = { host: 'localhost', 'sec-fetch-site': 'same-origin' }
          assert.equal((await other.ask('/live/restart', named, {})).status, 403)
          other.close()
        }
        assert.equal((await client.figures()).workers?.isRolling, false)

        const pids = (figures.workers?.workers ?? []).map(({ pid }) => pid)
        let isOver = false
        const statuses = new Map<number, number>()
        const load = (async () => {
          for (let count = 0; !isOver; count++) {
            const user = { name: 'Bob', email: `bob${count}@example.com`, age: 25 }
            for (const { status } of [
              await asking.ask('/json'),
              await asking.ask('/api/users', {}, user),
              // A connection of its own.
              await fetch(`${url}/json`, { headers: { connection: 'close' } }),
            ])
              statuses.set(status, (statuses.get(status) ?? 0) + 1)
          }
        })()
        try {
          const asked = await client.ask('/live/restart', { 'sec-fetch-site': 'same-origin' }, {})
          assert.equal(asked.status, 202, asked.body)
          await until('both workers are replaced', async () => {
            const { workers } = await client.figures()
            return workers?.restarts.roll === 2 && !workers.isRolling
          })
        } finally {
          isOver = true
        }
        await load
        assert.deepEqual([...statuses.keys()].toSorted(), [200, 201])
        const { workers } = await client.figures()
        assert.deepEqual(
          workers?.workers.map(({ worker, state }) => [worker, state]),
          [
            [0, 'ready'],
            [1, 'ready'],
          ],
        )
        for (const { pid } of workers?.workers ?? []) assert.ok(!pids.includes(pid))
      } finally {
        client.close()
        asking.close()
      }
    })
  },
)

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

test('in production the workers are shown for the token, and nobody restarts them', { timeout }, async () => {
  await serving(2, { NODE_ENV: 'production', API_TOKEN: 'secret' }, async (url) => {
    const client = new Client(url)
    try {
      const authorization = 'Bearer secret'
      assert.equal((await client.ask('/live/figures')).status, 401)
      assert.equal((await client.figures({ authorization })).workers?.size, 2)
      assert.doesNotMatch((await client.ask('/live', { authorization })).body, /id="restart"/)
      assert.equal((await client.ask('/live/restart', { authorization }, {})).status, 404)
    } finally {
      client.close()
    }
  })
})

test('processes that open a new database at once wait for each other', { timeout }, async () => {
  const sqlite = new URL('../src/sqlite.js', import.meta.url).href
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

test('a mistake is told once, before a worker starts', { timeout }, () => {
  const { NODE_ENV: _, API_TOKEN: _token, ...env } = process.env
  for (const [args, variables, message] of [
    [['--profile', 'veloxts'], {}, /^the profile veloxts keeps its users in memory/],
    [['--tls', join(folder, 'none')], {}, /^no certificate for HTTPS/],
    [[], { NODE_ENV: 'production' }, /^API_TOKEN is not set/],
  ] as const) {
    const { status, stdout, stderr } = spawnSync(process.execPath, [server, '--workers', '2', ...args], {
      env: { ...env, ...variables },
      encoding: 'utf8',
    })
    assert.equal(status, 2, stderr)
    assert.equal(stdout, '')
    assert.match(stderr, message)
    assert.equal(stderr.trim().split('\n').length, 1)
  }
})

test('rates are those between two beats of the same process', () => {
  const rates = new WorkerRates()
  const at = (pid: number, uptime: number, requests: number, cpu: number) =>
    rates.of({
      pid: 1,
      size: 1,
      workers: [
        {
          worker: 0,
          pid,
          state: 'ready',
          isStuck: false,
          uptime,
          beat: { uptime, requests, cpu, memory: 1, connections: 2, inFlight: 3 },
        },
      ],
      restarts: { crash: 0, hang: 0, memory: 0, roll: 0, signal: 0, change: 0 },
      isRolling: false,
    }).workers[0]
  assert.equal(at(7, 100, 1_000, 5)?.rate, null, 'since its start a hundred seconds have passed')
  const second = at(7, 102, 1_500, 6)
  assert.deepEqual([second?.rate, second?.load], [250, 0.5])
  assert.equal(at(7, 102, 1_500, 6)?.rate, 250, 'there was no new beat')
  assert.equal(at(8, 2, 10, 1)?.rate, 5, 'a worker that has just started')
  assert.equal(at(7, 104, 1_500, 6)?.rate, null, 'it was forgotten')
})
