/** A cluster of Redis for tests. */
import { Redis } from 'ioredis'
import { eventually, RedisServer } from '@volant/test-kit'

/** Starts a cluster of one node, and waits until it has all slots. */
export async function startCluster(): Promise<RedisServer> {
  const server = await RedisServer.make()
  await server.start({ 'cluster-enabled': 'yes', 'cluster-announce-ip': '127.0.0.1' })
  const client = new Redis({ port: server.port, host: '127.0.0.1' })
  await client.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383')
  await eventually(
    async () => String(await client.call('CLUSTER', 'INFO')).includes('cluster_state:ok'),
    'the cluster is ready',
  )
  client.disconnect()
  return server
}
