import { count, names, readArguments } from '../arguments.ts'
import { clusterHelp, clusterOptions, judged } from '../cluster/against.ts'
import { balance as balanceCluster } from '../cluster/balance.ts'
import { Failure } from '../failure.ts'
import type { Command } from './command.ts'

const usual = [10, 64, 1_000]

export const balance: Command = {
  name: 'balance',
  about: 'how many of 10, 64 and 1,000 connections each worker gets',
  help: `usage: npm run lab -- balance [options]

Each number of connections is made on a fresh cluster, 64 at a time, and held; each reply says who made it.

${clusterHelp}
  --workers N           (4)
  --connections A,B     (${usual.join(',')})

Exit code 1 when the worker with most connections has more than one more than that with fewest.

example
  npm run lab -- balance --connections 64 --against fastify,bun`,
  async run(argv) {
    const args = readArguments('balance', argv, {
      ...clusterOptions,
      workers: { type: 'string' },
      connections: { type: 'string' },
    })
    const connections = names(args, 'connections')?.map(Number) ?? usual
    const wrong = connections.find((one) => !(Number.isInteger(one) && one >= 1 && one <= 10_000))
    if (wrong !== undefined || connections.length === 0)
      throw new Failure('--connections takes whole numbers from 1 to 10000 with commas', 2)
    const workers = count(args, 'workers', 4, 64)
    return judged(args, (name) => balanceCluster(name, { workers, connections }))
  },
}
