/** `lab sse`: servers of streams of events side by side. */
import { count, oneOf, readArguments, text } from '../arguments.ts'
import { versionOptions } from '../choice.ts'
import { Failure } from '../failure.ts'
import { shapes, sse as measureSse, sseServers } from '../sse.ts'
import type { Command } from './command.ts'

export const sse: Command = {
  name: 'sse',
  about: 'what a server-sent event costs, beside Fastify and Hono',
  help: `usage: npm run lab -- sse [options]

  --streams N       kept open (1000), one event each 100 ms to each
  --seconds S       of each window (10)
  --rounds N        each server once in every round (5)
  --shape NAME      broadcast, own, or both (both): one timer for all streams, or one for each
  --servers NAMES   with commas (${sseServers.join(',')})
  --node 24         the Node.js that the servers run on (26)

A stream that misses an event fails the run.

example
  npm run lab -- sse --rounds 1 --seconds 3 --servers native,hono`,
  async run(argv) {
    if (process.platform !== 'linux') throw new Failure('the lab reads CPU time from /proc: Linux only', 2)
    const args = readArguments('sse', argv, {
      ...versionOptions,
      streams: { type: 'string' },
      seconds: { type: 'string' },
      rounds: { type: 'string' },
      shape: { type: 'string' },
      servers: { type: 'string' },
    })
    const shape = oneOf(args, 'shape', 'both', ['both', ...shapes])
    const servers = (text(args, 'servers') ?? sseServers.join(',')).split(',')
    const stranger = servers.find((name) => !sseServers.includes(name))
    if (stranger !== undefined) throw new Failure(`sse knows ${sseServers.join(' ')}, not ${stranger}`, 2)
    await measureSse({
      streams: count(args, 'streams', 1_000, 20_000),
      seconds: count(args, 'seconds', 10, 600),
      rounds: count(args, 'rounds', 5, 100),
      shapes: shape === 'both' ? shapes : [shape],
      servers,
    })
    return 0
  },
}
