import { count, readArguments } from '../arguments.ts'
import { clusterHelp, clusterOptions, judged } from '../cluster/against.ts'
import { roll as rollCluster } from '../cluster/roll.ts'
import type { Command } from './command.ts'

export const roll: Command = {
  name: 'roll',
  about: 'rolling restarts of all workers under load: is any request lost?',
  help: `usage: npm run lab -- roll [options]

Clients keep their connections, and half of their requests are POST with a number that no other has. They obey
Connection: close and never send a request again. A request fails when it cannot connect, without a whole reply, with
any status but 200, or with a reply that is not its own. Each worker writes down the POSTs that it ran.

${clusterHelp}
  --workers N       (4)
  --rolls N         (20)
  --requests N      at least so many are sent, and so many more as the rolls take (1000000)
  --clients N       (64)
  --seconds S       after which the run has failed (1800)
  --seed N          of pauses and methods (1)

Exit code 1 when a request failed, a POST was run twice, the rolls or requests were not done, or the end after SIGTERM
was not exit code 0.

examples
  npm run lab -- roll
  npm run lab -- roll --rolls 2 --requests 2000 --against fastify,pm2,bun`,
  async run(argv) {
    const args = readArguments('roll', argv, {
      ...clusterOptions,
      workers: { type: 'string' },
      rolls: { type: 'string' },
      requests: { type: 'string' },
      clients: { type: 'string' },
      seconds: { type: 'string' },
      seed: { type: 'string' },
    })
    const method = {
      workers: count(args, 'workers', 4, 64),
      rolls: count(args, 'rolls', 20, 1_000),
      requests: count(args, 'requests', 1_000_000, 100_000_000),
      clients: count(args, 'clients', 64, 1_000),
      limit: count(args, 'seconds', 1_800, 86_400),
      seed: count(args, 'seed', 1, 2 ** 31),
    }
    return judged(args, (name) => rollCluster(name, method))
  },
}
