import { count, names, readArguments, seconds } from '../arguments.ts'
import { clusterHelp, clusterOptions, judged } from '../cluster/against.ts'
import { oneCore, ownCores } from '../cluster/workers.ts'
import { Failure } from '../failure.ts'
import type { Command } from './command.ts'

const usual = [1, 2, 4]

export const workers: Command = {
  name: 'workers',
  about: 'what a request costs at 1, 2 and 4 workers on one core, all processes counted',
  help: `usage: npm run lab -- workers [options]

All processes of a cluster run on one core: what each request costs more with more workers is what scaling costs.
Each window has a fresh cluster, and rounds are interleaved.

${clusterHelp}
  --workers A,B     (${usual.join(',')})
  --own-cores       requests/s of two workers on cores of their own over those of one, which needs four cores
  --connections N   (100)
  --seconds S       of each window (2)
  --rounds N        (7)

Exit code 1 when a request costs more than 3 % more than with the first number of workers, by the upper end of the
interval of the ratios of the rounds, or with --own-cores when two workers do less than 1.9 times as much.

example
  npm run lab -- workers --rounds 9 --against fastify,bun`,
  async run(argv) {
    const args = readArguments('workers', argv, {
      ...clusterOptions,
      workers: { type: 'string' },
      'own-cores': { type: 'boolean' },
      connections: { type: 'string' },
      seconds: { type: 'string' },
      rounds: { type: 'string' },
    })
    const given = names(args, 'workers')?.map(Number) ?? usual
    if (given.length < 2 || given.some((one) => !(Number.isInteger(one) && one >= 1 && one <= 64)))
      throw new Failure('--workers takes two whole numbers or more from 1 to 64 with commas', 2)
    const method = {
      workers: given,
      connections: count(args, 'connections', 100, 10_000),
      seconds: seconds(args, 'seconds', 2, 60),
      rounds: count(args, 'rounds', 7, 100),
    }
    const measure = args.values['own-cores'] === true ? ownCores : oneCore
    return judged(args, (name, cores) => measure(name, method, cores))
  },
}
