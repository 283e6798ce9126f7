import { count, oneOf, readArguments, text } from '../arguments.ts'
import { clusterHelp, clusterOptions, judged } from '../cluster/against.ts'
import { broken } from '../cluster/broken.ts'
import { kill as killWorkers } from '../cluster/kill.ts'
import { orphans } from '../cluster/orphans.ts'
import { stall } from '../cluster/stall.ts'
import { Failure } from '../failure.ts'
import type { Command } from './command.ts'

export const kill: Command = {
  name: 'kill',
  about: 'workers or their supervisor are killed, stopped or broken under load: what fails, what is left?',
  help: `usage: npm run lab -- kill [options]

  --signal KILL     a worker ends each time: only requests that were in flight on it may fail, and they as a reset; a
                    new one answers within 1 s
  --signal STOP     a worker hangs: no new connection waits for it after 3 s, and it is gone and replaced after 31 s
  --who supervisor  the first process is killed while it starts, serves, rolls and drains: after 5 s no process, no
                    zombie is left, and the port is free
  --who start       a version throws when it starts: the cluster ends with 1 and says why, and in a roll the workers of
                    before serve on without a failed request

${clusterHelp}
  --workers N       (4)
  --every 1s        from one SIGKILL to the next, in seconds (1s)
  --count N         of signals: 20 of KILL, 1 of STOP
  --clients N       (64)
  --seed N          of workers, pauses and methods (1)

Exit code 1 when one of these is not so.

examples
  npm run lab -- kill --signal KILL --every 1s --count 20
  npm run lab -- kill --who supervisor --against fastify,pm2`,
  async run(argv) {
    const args = readArguments('kill', argv, {
      ...clusterOptions,
      signal: { type: 'string' },
      who: { type: 'string' },
      workers: { type: 'string' },
      every: { type: 'string' },
      count: { type: 'string' },
      clients: { type: 'string' },
      seed: { type: 'string' },
    })
    const signal = oneOf(args, 'signal', 'KILL', ['KILL', 'STOP'])
    const who = oneOf(args, 'who', 'worker', ['worker', 'supervisor', 'start'])
    if (who !== 'worker' && (signal === 'STOP' || text(args, 'count') !== undefined))
      throw new Failure(`--who ${who} takes neither --signal STOP nor --count`, 2)
    const every = /^(\d+(?:\.\d+)?)s?$/.exec(text(args, 'every') ?? '1s')?.[1]
    if (every === undefined || !(Number(every) >= 0.1 && Number(every) <= 600))
      throw new Failure(`--every takes seconds from 0.1 to 600, as 1s, not ${text(args, 'every')}`, 2)
    const workers = count(args, 'workers', 4, 64, who === 'worker' ? 2 : 1)
    const seed = count(args, 'seed', 1, 2 ** 31)
    const clients = count(args, 'clients', 64, 1_000)
    return judged(args, (name) => {
      if (who === 'supervisor') return orphans(name, { workers, seed })
      if (who === 'start') return broken(name, { workers, seed })
      if (signal === 'STOP') return stall(name, { workers, stalls: count(args, 'count', 1, 100) })
      const kills = count(args, 'count', 20, 10_000)
      return killWorkers(name, { workers, kills, every: Number(every) * 1_000, clients, seed })
    })
  },
}
