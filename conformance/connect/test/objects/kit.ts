/** Handlers that tell what they see, as scenarios. */
import assert from 'node:assert/strict'
import { eventually } from '@volant/test-kit'
import type { Next, Req, Res } from '../../src/layers.ts'
import { scenario, type Scenario } from '../../src/scenario.ts'

export const long = Buffer.alloc(3_000_000, 'some text ')

/** A handler whose reply tells what it saw. */
export function told(
  look: (req: Req, res: Res) => unknown,
  ask: { headers?: Record<string, string>; method?: string } = {},
): Scenario {
  return scenario({
    build(site) {
      site.handle('GET', '/path', (req, res) => res.end(JSON.stringify(look(req, res) ?? null)))
    },
    async play(client) {
      const reply = await client.ask('/path?a=1&b=%20c', ask)
      assert.equal(reply.status, 200)
      return [JSON.parse(reply.text), reply.headers]
    },
  })
}

/** A handler that replies, and tells what happened by a list. */
export function listed(
  run: (log: unknown[], req: Req, res: Res, next: Next) => unknown,
  wanted: number,
  body?: string | Buffer,
): Scenario {
  return scenario({
    memory: false,
    build(site) {
      const log: unknown[] = []
      site.streamed('POST', '/path', (req, res, next) => run(log, req, res, next))
      return log
    },
    async play(client, log) {
      const reply = await client.large('/path', { method: 'POST', body: body ?? 'a body' })
      await eventually(() => log.length >= wanted, `${wanted} entries of ${JSON.stringify(log)}`)
      return [log, reply.status, reply.headers['content-type'] ?? null, reply.body]
    },
  })
}
