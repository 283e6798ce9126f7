/** `lab tls-storm`: measures healthy clients while others make handshakes. */
import { count, oneOf, readArguments } from '../arguments.ts'
import { versionOptions } from '../choice.ts'
import { Failure } from '../failure.ts'
import { tlsStorm as stormBeside } from '../tls-storm.ts'
import type { Command } from './command.ts'

const servers = ['native', 'node-http', 'node', 'bun', 'fastify'] as const

export const tlsStorm: Command = {
  name: 'tls-storm',
  about: 'the p99 of 50 clients beside new TLS handshakes without a pause',
  help: `usage: npm run lab -- tls-storm [options]

  --server NAME     ${servers.join(', ')} (native)
  --storms N        processes of openssl s_time -new (4)
  --seconds S       of each window (5)
  --rounds N        without handshakes, then beside them, on a fresh server (5)
  --node 24         the Node.js that the server runs on (26)

Exit code 1 when the p99, counted from when a request was due or from when it was written, is more than twice what it is
without them, or 50 ms; when a reply is wrong or missing; and when there was no storm.

example
  npm run lab -- tls-storm --rounds 1 --server node`,
  async run(argv) {
    if (process.platform !== 'linux') throw new Failure('the lab reads CPU time from /proc: Linux only', 2)
    const args = readArguments('tls-storm', argv, {
      ...versionOptions,
      server: { type: 'string' },
      storms: { type: 'string' },
      seconds: { type: 'string' },
      rounds: { type: 'string' },
    })
    const kept = await stormBeside({
      server: oneOf(args, 'server', 'native', servers),
      storms: count(args, 'storms', 4, 64),
      seconds: count(args, 'seconds', 5, 60),
      rounds: count(args, 'rounds', 5, 100),
    })
    return kept ? 0 : 1
  },
}
