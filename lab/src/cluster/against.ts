/** What the command lines of the commands about clusters have in common. */
import { type Arguments, type Options, names, oneOf } from '../arguments.ts'
import { versionOptions } from '../choice.ts'
import { type Cores, chooseCores } from '../cores.ts'
import { Failure } from '../failure.ts'
import { type ClusterName, clusterNames, installRival } from './rivals.ts'

export const clusterOptions: Options = {
  ...versionOptions,
  server: { type: 'string' },
  against: { type: 'string' },
}

export const clusterHelp = `  --server NAME     what is judged: ${clusterNames.join(', ')} (volant)
  --against A,B     rivals that are measured after it; what they miss is printed, and fails nothing
  --node 24         the Node.js that they run on (26)
  --newer-glibc     brings the C library of Debian 13, which uws needs on Debian 12`

/**
 * Measures what is judged, then the rivals; gives the exit code. What cannot be measured of a rival is said in a line.
 */
export async function judged(
  args: Arguments,
  measure: (name: ClusterName, cores: Cores) => Promise<readonly string[]>,
): Promise<number> {
  if (process.platform !== 'linux') throw new Failure('the lab reads processes from /proc: Linux only', 2)
  const server = oneOf(args, 'server', 'volant', clusterNames)
  const against = names(args, 'against') ?? []
  const stranger = against.find((name) => !clusterNames.includes(name as ClusterName))
  if (stranger !== undefined)
    throw new Failure(`--against takes ${clusterNames.join(', ')} with commas, not ${stranger}`, 2)
  await installRival(server)
  // Before the lab steps aside: afterwards it may use one core alone.
  const cores = chooseCores()
  const faults = await measure(server, cores)
  for (const name of against as ClusterName[]) {
    try {
      await installRival(name)
      await measure(name, cores)
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      console.log(`${name}: not measured: ${error.message}`)
    }
  }
  return faults.length === 0 ? 0 : 1
}
