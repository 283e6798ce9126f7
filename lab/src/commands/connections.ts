import { count, readArguments, seconds } from '../arguments.ts'
import { clusterHelp, clusterOptions, judged } from '../cluster/against.ts'
import { connections as measureConnections } from '../cluster/connections.ts'
import type { Command } from './command.ts'

export const connections: Command = {
  name: 'connections',
  about: 'what a supervisor costs a connection, a request, a start, in memory, and while nothing happens',
  help: `usage: npm run lab -- connections [options]

Measures a cluster beside the same app in one process, on one core, in interleaved rounds.

${clusterHelp}
  --workers N       of the cluster (1)
  --seconds S       of each window (2)
  --idle S          in which nothing happens (5)
  --rounds N        (7)

Exit code 1 when, by the upper ends of the intervals, a new connection costs more than 25 µs more, one of 64 at once
more than 8 µs more, a request more than 1 % more, a start takes more than 80 ms longer, or the first process has more
than 15 MB of memory (PSS) or uses 0.5 % of a core while nothing happens.

example
  npm run lab -- connections --rounds 3 --against fastify`,
  async run(argv) {
    const args = readArguments('connections', argv, {
      ...clusterOptions,
      workers: { type: 'string' },
      seconds: { type: 'string' },
      idle: { type: 'string' },
      rounds: { type: 'string' },
    })
    const method = {
      workers: count(args, 'workers', 1, 64),
      seconds: seconds(args, 'seconds', 2, 60),
      idle: seconds(args, 'idle', 5, 60),
      rounds: count(args, 'rounds', 7, 100),
    }
    return judged(args, (name, cores) => measureConnections(name, method, cores))
  },
}
