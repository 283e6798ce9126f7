import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { count, oneOf, readArguments, text } from '../arguments.ts'
import { entryNamed } from '../choice.ts'
import { drain as drainServers } from '../drain/drain.ts'
import { servers } from '../drain/instances.ts'
import { readEntries } from '../entry.ts'
import { Failure } from '../failure.ts'
import { rootFolder } from '../folders.ts'
import { installEntry } from '../install.ts'
import type { Command } from './command.ts'

export const drain: Command = {
  name: 'drain',
  about: 'rolling stops of two instances under load: is any request lost?',
  help: `usage: npm run lab -- drain --behind nginx [options]
       npm run lab -- drain --direct [options]

Clients keep their connections, and half of their requests are POST, which nobody sends again. An instance is stopped
by SIGTERM and replaced on its port, then the other. A request fails without a reply, with any status but 200, or with
a reply that is not its own.

  --behind nginx    clients talk to nginx, which keeps connections to the instances
  --direct          clients talk to the instances, obey Connection: close, and connect to one that listens
  --server NAME     ${servers.join(', ')} (native); the last two are rivals
  --root FOLDER     another checkout, built, whose Volant is stopped (this one)
  --stops N         (20)
  --clients N       (40)
  --seed N          of pauses and methods (1)

It runs on the Node.js that runs the lab; a stop takes up to drainIdle. An instance that has not ended after 15 s is
killed. Exit code 1 when a request failed, a POST was run twice, or an instance was killed.

examples
  npm run lab -- drain --behind nginx
  npm run lab -- drain --direct --server node --stops 5`,
  async run(argv) {
    const args = readArguments('drain', argv, {
      behind: { type: 'string' },
      direct: { type: 'boolean' },
      server: { type: 'string' },
      root: { type: 'string' },
      stops: { type: 'string' },
      clients: { type: 'string' },
      seed: { type: 'string' },
    })
    const isDirect = args.values['direct'] === true
    if ((text(args, 'behind') === 'nginx') === isDirect)
      throw new Failure('drain takes either --behind nginx or --direct', 2)
    const root = resolve(process.env['INIT_CWD'] ?? '.', text(args, 'root') ?? rootFolder)
    if (!existsSync(join(root, 'packages/volant/dist/src/index.js')))
      throw new Failure(`${root} is no checkout with built packages: run npm run build there`, 2)
    const method = {
      server: oneOf(args, 'server', 'native', servers),
      root,
      behind: isDirect ? null : ('nginx' as const),
      stops: count(args, 'stops', 20, 1_000),
      clients: count(args, 'clients', 40, 500),
      seed: count(args, 'seed', 1, 2 ** 31),
    }
    if (method.server === 'fastify') await installEntry(entryNamed('fastify', readEntries()))
    return (await drainServers(method)) ? 0 : 1
  },
}
