/** The figures of all workers, and the button that replaces them. */
import assert from 'node:assert/strict'
import { networkInterfaces } from 'node:os'
import { test } from 'node:test'
import { eventually } from '@volant/test-kit'
import { WorkerRates } from '../../src/workers.ts'
import { timeout, Client, serving } from './kit.ts'

/** An address of this machine that others in its network can reach. */
const outside = Object.values(networkInterfaces())
  .flat()
  .find((each) => each?.family === 'IPv4' && !each.internal)?.address

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
        await eventually(async () => {
          figures = await client.figures()
          return figures.server.requests >= 20 && figures.rate !== null
        }, 'the requests to both workers are counted')
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
          await eventually(async () => {
            const { workers } = await client.figures()
            return workers?.restarts.roll === 2 && !workers.isRolling
          }, 'both workers are replaced')
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
