/** What the commands about clusters can start: Volant, and what others do to use all cores of a machine. */
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { type Entry, commandOf, entryOf } from '../entry.ts'
import { Failure } from '../failure.ts'
import { entriesFolder } from '../folders.ts'
import { installEntry } from '../install.ts'

export interface Rival {
  readonly title: string
  /** The entry that says what it runs on, and whose packages it needs. */
  readonly entry: string
  /** The folder in `entries` that it starts in, and where further packages are. */
  readonly folder: string
  /** The command behind the runtime. */
  args(workers: number, module?: string): string[]
  /** The same handlers in one process that is no cluster. */
  readonly alone: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** How it is told to replace its workers: by SIGHUP to its first process, or by a command. A sentence: it cannot. */
  readonly reload: 'SIGHUP' | { readonly args: readonly string[] } | { readonly lacks: string }
  /** True if its workers are threads of one process: no signal ends one of them. */
  readonly threads?: true
}

const pm2 = (program: string) => join(entriesFolder, 'cluster/node_modules/pm2/bin', program)

export const rivals = {
  volant: {
    title: 'Volant: volant start',
    entry: 'native',
    folder: 'volant',
    args: (workers, module = 'cluster.mjs') => [
      volantCommand(),
      'start',
      module,
      '--workers',
      String(workers),
    ],
    alone: ['cluster.mjs'],
    reload: 'SIGHUP',
  },
  node: {
    title: 'node:http on node:cluster',
    entry: 'node',
    folder: 'cluster',
    args: () => ['node-cluster.mjs'],
    alone: ['node.mjs'],
    environment: { SERVER: 'node' },
    reload: 'SIGHUP',
  },
  fastify: {
    title: 'Fastify on node:cluster',
    entry: 'fastify',
    folder: 'cluster',
    args: () => ['node-cluster.mjs'],
    alone: ['fastify.mjs'],
    environment: { SERVER: 'fastify' },
    reload: 'SIGHUP',
  },
  pm2: {
    title: 'Fastify on pm2',
    entry: 'fastify',
    folder: 'cluster',
    args: () => [pm2('pm2-runtime'), 'start', 'pm2.config.cjs'],
    alone: ['pm2-worker.mjs'],
    // It asks for new releases and sends how it is used otherwise.
    environment: { PM2_DISCRETE_MODE: 'true' },
    reload: { args: [pm2('pm2'), 'reload', 'cluster'] },
  },
  uws: {
    title: 'uWebSockets.js on worker threads',
    entry: 'uws',
    folder: 'cluster',
    args: () => ['uws.mjs'],
    alone: ['uws.mjs', 'alone'],
    reload: {
      lacks: 'no app can be taken out of its acceptor, so its threads cannot be replaced one by one',
    },
    threads: true,
  },
  bun: {
    title: 'Bun.serve with reusePort',
    entry: 'bun',
    folder: 'cluster',
    args: () => ['bun.mjs'],
    alone: ['bun-worker.mjs'],
    reload: 'SIGHUP',
  },
} as const satisfies Record<string, Rival>

export type ClusterName = keyof typeof rivals
export const clusterNames = Object.keys(rivals) as ClusterName[]

/** Installs the packages that it needs. Throws a `Failure` for what is missing here. */
export async function installRival(name: ClusterName): Promise<void> {
  const { folder, entry } = rivals[name]
  const own = entryOf(entry)
  await installEntry(own)
  const needsMore = folder === 'cluster' && (name === 'fastify' || name === 'pm2')
  if (needsMore) await installEntry({ ...own, name: 'cluster', folder: join(entriesFolder, folder) })
}

/**
 * The program that runs it, with its first arguments. Only threads can have another C library: a process that starts
 * further ones does so by its own path, which would be that of the loader.
 */
export function runtimeOfRival(name: ClusterName): string[] {
  const [entry, rival]: [Entry, Rival] = [entryOf(rivals[name].entry), rivals[name]]
  return entry.runtime === 'node' && rival.threads !== true
    ? [entry.node.path]
    : commandOf(entry).slice(0, -1)
}

/** The command `volant`, as packed beside the entries, or of this checkout. */
export function volantCommand(): string {
  const main = createRequire(join(entriesFolder, 'volant/cluster.mjs')).resolve('volant')
  for (let folder = join(main, '..'); folder !== join(folder, '..'); folder = join(folder, '..')) {
    const manifest = join(folder, 'package.json')
    if (!existsSync(manifest)) continue
    const { name, bin } = JSON.parse(readFileSync(manifest, 'utf8')) as {
      name?: string
      bin?: string | Record<string, string>
    }
    if (name !== 'volant') continue
    const file = typeof bin === 'string' ? bin : bin?.['volant']
    if (file !== undefined) return join(folder, file)
  }
  throw new Failure('the package volant has no command: run npm run build', 2)
}
