/** `volant dev` fails no request while versions follow each other. */
import assert from 'node:assert/strict'
import { Agent, get, type IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { versionSource } from './project.ts'
import { skip, withProject } from './kit.ts'

test('volant dev: no request fails while versions follow each other', { skip }, () =>
  withProject(async (project) => {
    await project.serve()
    const counts = { fresh: 0, kept: 0, again: 0 }
    let isOver = false
    const agent = new Agent({ keepAlive: true, maxSockets: 4 })
    const loop = async (name: 'fresh' | 'kept', from: Agent | false): Promise<void> => {
      while (!isOver) {
        // A server may close a connection while a request is on its way; clients repeat it then (RFC 9112 §9.3.1).
        let status = await ask(project.port, from)
        for (; status === 'closed'; counts.again++) status = await ask(project.port, from)
        assert.equal(status, 200)
        counts[name]++
      }
    }
    const loops = Promise.all([loop('fresh', false), loop('kept', agent), loop('kept', agent)])
    loops.catch(() => {})
    for (let at = 1; at <= 5; at++) {
      project.write('src/version.js', versionSource(`version-${at}`))
      await project.says('restarted in', at)
    }
    isOver = true
    await loops
    agent.destroy()
    assert.ok(counts.fresh > 5 && counts.kept > 5, JSON.stringify(counts))
  }),
)

/**
 * The time that an old version leaves a new connection for its first request (`lastFirsts` of the supervisor), in
 * milliseconds, less the millisecond by which a timer can be early. A request that was sent in this time is answered.
 */
const firstRequest = 49

/**
 * Gives the status; `closed` if the server closed an idle connection as the request came: one that was used before, or a
 * new one whose client stood still before it sent the request.
 */
function ask(port: number, agent: Agent | false): Promise<number | 'closed'> {
  const begun = performance.now()
  let sent = Infinity
  return new Promise((resolve, reject) => {
    const request = get({ port, host: '127.0.0.1', agent }, (reply: IncomingMessage) => {
      reply.on('error', reject).resume()
      reply.on('end', () => resolve(reply.statusCode as number))
    })
    request.on('finish', () => (sent = performance.now() - begun))
    request.on('error', (error: NodeJS.ErrnoException) => {
      const wasIdle = request.reusedSocket || sent > firstRequest
      if (wasIdle && error.code === 'ECONNRESET') resolve('closed')
      else reject(error)
    })
  })
}
