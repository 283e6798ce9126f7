/** Supervisors that run for as long as a test, or until they end by themselves. */
import { Cluster, type ClusterOptions } from './cluster.ts'
import { endLoad } from './load.ts'

/** Multiplies the times after which the thread of the engine ends a worker without a supervisor. */
export function orphanTimes(factors: { follow?: number; goOnFor?: number }): ClusterOptions {
  const query = new URLSearchParams(Object.entries(factors).map(([name, factor]) => [name, String(factor)]))
  return { execArgv: ['--import', new URL(`./orphan-times.js?${query}`, import.meta.url).href] }
}

/** That thread ends no worker while a test waits, so that only what the case is about does. */
export const patient = orphanTimes({ follow: 100, goOnFor: 100 })

/** Runs `test` with a supervisor whose workers serve, and leaves nothing behind. */
export async function withCluster(
  options: ClusterOptions,
  test: (cluster: Cluster) => Promise<unknown>,
): Promise<void> {
  const cluster = await Cluster.start(options)
  try {
    await test(cluster)
  } catch (error) {
    if (error instanceof Error) error.message += `\n${cluster.output}`
    throw error
  } finally {
    const { port } = cluster
    await cluster.end()
    await endLoad(port)
  }
}

/** Runs a supervisor that ends by itself. Gives its exit code, and what it wrote. */
export async function runToEnd(
  options: ClusterOptions,
): Promise<{ code: number | NodeJS.Signals; output: string }> {
  const cluster = new Cluster(options)
  try {
    const code = await cluster.exit()
    return { code, output: cluster.output }
  } finally {
    await cluster.end()
  }
}
