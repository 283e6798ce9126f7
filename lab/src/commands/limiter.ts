import { count, readArguments, seconds } from '../arguments.ts'
import { versionOptions } from '../choice.ts'
import { limiter as measureLimiter } from '../cluster/limiter.ts'
import { installRival } from '../cluster/rivals.ts'
import { Failure } from '../failure.ts'
import type { Command } from './command.ts'

export const limiter: Command = {
  name: 'limiter',
  about: 'a rate limit over workers and machines: is it exact, and does it wait for a store that is gone?',
  help: `usage: npm run lab -- limiter [options]

  --workers N       of each supervisor (4)
  --machines N      supervisors that count together through Redis (2)
  --limit N         requests that may pass (500)
  --requests N      that one client sends, on many connections at once (5000)
  --rate N          requests a second while the store is killed, and while it is stopped (500)
  --seconds S       for which they go on (5)
  --node 24         the Node.js that they run on (26)

Exit code 1 when another number than the limit passes, with workers of one supervisor in memory or with all machines
through Redis, or when a request fails or the p99 is above 60 ms after Redis was killed or stopped. Needs redis-server.

example
  npm run lab -- limiter --requests 1000 --limit 100`,
  async run(argv) {
    if (process.platform !== 'linux') throw new Failure('the lab reads processes from /proc: Linux only', 2)
    const args = readArguments('limiter', argv, {
      ...versionOptions,
      workers: { type: 'string' },
      machines: { type: 'string' },
      limit: { type: 'string' },
      requests: { type: 'string' },
      rate: { type: 'string' },
      seconds: { type: 'string' },
    })
    const method = {
      workers: count(args, 'workers', 4, 64),
      machines: count(args, 'machines', 2, 16),
      limit: count(args, 'limit', 500, 100_000),
      requests: count(args, 'requests', 5_000, 1_000_000),
      rate: count(args, 'rate', 500, 100_000),
      seconds: seconds(args, 'seconds', 5, 60),
    }
    if (method.requests <= method.limit)
      throw new Failure('--requests must be more than --limit, or nothing is refused', 2)
    await installRival('volant')
    return (await measureLimiter(method)).length === 0 ? 0 : 1
  },
}
