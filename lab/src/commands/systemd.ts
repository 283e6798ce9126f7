import { count, readArguments } from '../arguments.ts'
import { versionOptions } from '../choice.ts'
import { installRival } from '../cluster/rivals.ts'
import { service } from '../cluster/service.ts'
import { Failure } from '../failure.ts'
import type { Command } from './command.ts'

export const systemd: Command = {
  name: 'systemd',
  about: 'a service with a socket that stays, restarted under load, and one that is PID 1',
  help: `usage: npm run lab -- systemd [options]

A program of the lab does what systemd does for Type=notify and a .socket. The whole service is restarted while clients
send requests, and rolled by SIGHUP. Then another one runs as the first process of a namespace, where workers leave it
with the children of children.

  --workers N       (2)
  --restarts N      (5)
  --orphans N       (20)
  --clients N       (32)
  --seed N          of pauses and methods (1)
  --node 24         the Node.js that they run on (26)

Exit code 1 when a request failed or was refused, a POST was run twice, the service did not say what sd_notify(3) asks
for, workers have the manager's variables, zombies are left with PID 1, or SIGTERM did not end it with 0. Needs unshare,
as root or in a namespace of users.

example
  npm run lab -- systemd --restarts 1`,
  async run(argv) {
    if (process.platform !== 'linux') throw new Failure('the lab reads processes from /proc: Linux only', 2)
    const args = readArguments('systemd', argv, {
      ...versionOptions,
      workers: { type: 'string' },
      restarts: { type: 'string' },
      orphans: { type: 'string' },
      clients: { type: 'string' },
      seed: { type: 'string' },
    })
    await installRival('volant')
    const faults = await service({
      workers: count(args, 'workers', 2, 64),
      restarts: count(args, 'restarts', 5, 100),
      orphans: count(args, 'orphans', 20, 1_000),
      clients: count(args, 'clients', 32, 1_000),
      seed: count(args, 'seed', 1, 2 ** 31),
    })
    return faults.length === 0 ? 0 : 1
  },
}
