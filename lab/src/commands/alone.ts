/** The commands about one server of ours: what it keeps of its clients, and what they do to each other. */
import { count, oneOf, readArguments, text } from '../arguments.ts'
import { versionOptions } from '../choice.ts'
import { Failure } from '../failure.ts'
import { idle as idleServer, idleServers } from '../idle.ts'
import { slowReaders as slowReadersBeside } from '../slow-readers.ts'
import { soak as soakServer } from '../soak.ts'
import type { Command } from './command.ts'

export const soak: Command = {
  name: 'soak',
  about: 'pipelined requests and rude clients: are memory, files and slots given back?',
  help: `usage: npm run lab -- soak [options]

  --requests N      sent in all (1000000); memory is compared with that after 200,000
  --connections N   at once (50)
  --adapter NAME    native or node-http (native)

Exit code 1 when a verdict is missed or a reply is wrong.

example
  npm run lab -- soak --requests 200000`,
  async run(argv) {
    linuxOnly()
    const args = readArguments('soak', argv, {
      requests: { type: 'string' },
      connections: { type: 'string' },
      adapter: { type: 'string' },
    })
    const kept = await soakServer({
      requests: count(args, 'requests', 1_000_000, 1_000_000_000),
      connections: count(args, 'connections', 50, 10_000),
      adapter: oneOf(args, 'adapter', 'native', ['native', 'node-http']),
    })
    return kept ? 0 : 1
  },
}

export const idle: Command = {
  name: 'idle',
  about: 'what idle keep-alive connections cost',
  help: `usage: npm run lab -- idle [options]

  --connections N   kept open (10000)
  --server NAME     ${idleServers.join(', ')} (native)
  --tls             the same over TLS too, on a fresh server, and what TLS adds; not for uws and limit
  --node 24         the Node.js that the server runs on (26)
  --newer-glibc     brings the C library of Debian 13, which the newest uWebSockets.js needs

Exit code 1 when a connection is dropped or the bar of native is missed.

example
  npm run lab -- idle --server uws --newer-glibc
  npm run lab -- idle --tls`,
  async run(argv) {
    linuxOnly()
    const args = readArguments('idle', argv, {
      ...versionOptions,
      connections: { type: 'string' },
      server: { type: 'string' },
      tls: { type: 'boolean' },
    })
    const connections = count(args, 'connections', 10_000, 100_000)
    const server = text(args, 'server') ?? 'native'
    const encrypted = args.values['tls'] === true
    if (encrypted && (server === 'uws' || server === 'limit'))
      throw new Failure(`idle --tls takes native, node-http, node and bun, not ${server}`, 2)
    return (await idleServer({ connections, server, encrypted })) ? 0 : 1
  },
}

export const slowReaders: Command = {
  name: 'slow-readers',
  about: 'the p99 of a client beside slow readers of streams',
  help: `usage: npm run lab -- slow-readers [options]

  --readers N       clients that read 64 KiB of a 100 MB stream in every second (1000)
  --seconds S       of each window (5)
  --rounds N        without readers, then with them, on a fresh server (3)
  --adapter NAME    native or node-http (native)

Exit code 1 when the p99 is more than twice what it is without them.

example
  npm run lab -- slow-readers --readers 200 --rounds 1`,
  async run(argv) {
    const args = readArguments('slow-readers', argv, {
      readers: { type: 'string' },
      seconds: { type: 'string' },
      rounds: { type: 'string' },
      adapter: { type: 'string' },
    })
    const kept = await slowReadersBeside({
      readers: count(args, 'readers', 1_000, 20_000),
      seconds: count(args, 'seconds', 5, 60),
      rounds: count(args, 'rounds', 3, 100),
      adapter: oneOf(args, 'adapter', 'native', ['native', 'node-http']),
    })
    return kept ? 0 : 1
  },
}

function linuxOnly(): void {
  if (process.platform !== 'linux') throw new Failure('the lab reads memory from /proc: Linux only', 2)
}
