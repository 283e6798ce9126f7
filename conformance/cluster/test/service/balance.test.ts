/** Connections are spread over the workers. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Connection, withCluster } from '../../src/index.ts'

describe('balance', { concurrency: 2 }, () => {
  for (const count of [10, 64, 1000]) {
    test(`${count} connections on 4 workers: each has as many as the others, or one more`, () =>
      withCluster({ workers: 4 }, async (cluster) => {
        const connections: Connection[] = []
        const counts = new Map<number, number>()
        while (connections.length < count) {
          const some = Array.from({ length: Math.min(50, count - connections.length) }, () =>
            Connection.open(cluster.port),
          )
          connections.push(...(await Promise.all(some)))
        }
        for (const each of connections) {
          const { worker } = await each.json('/')
          counts.set(worker, (counts.get(worker) ?? 0) + 1)
        }
        const all = [0, 1, 2, 3].map((worker) => counts.get(worker) ?? 0)
        assert.ok(Math.max(...all) - Math.min(...all) <= 1, all.join(', '))
        for (const each of connections) each.close()
      }))
  }
})
