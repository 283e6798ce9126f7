/** Loads the native engine, where it can be used. */
import { type Adapter, type ListenOptions, nativeEngine, type Server } from '@volant/engine'
import { explain, ListenError, refuseSharing } from './node-listen.ts'

/** Gives the native engine, or the reason why it cannot be used here. */
export function nativeAdapter(): { adapter: Adapter } | { reason: string } {
  const engine = nativeEngine()
  if ('reason' in engine) return engine
  const { adapter } = engine
  return {
    adapter: { ...adapter, createServer: (host) => withExplanations(adapter.createServer(host)) },
  }
}

/** Gives the same server, whose listening errors say what to do. */
function withExplanations(server: Server): Server {
  const listen = server.listen.bind(server)
  server.listen = async (options: ListenOptions) => {
    refuseSharing('native', options)
    try {
      return await listen(options)
    } catch (error) {
      throw !options.reusePort && isSharing(error) ? notShared(error, options) : explain(error, options)
    }
  }
  return server
}

/** True in a worker of node:cluster, where node:http would get the socket of its parent. */
function isSharing(error: unknown): boolean {
  if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') return false
  // It is loaded only here, since it loads node:child_process.
  return (process.getBuiltinModule('node:cluster') as unknown as { isWorker: boolean }).isWorker
}

function notShared(error: unknown, { port, path }: ListenOptions): ListenError {
  return new ListenError(
    'EADDRINUSE',
    `${path ?? `port ${port}`} is in use, and the native engine does not share a port with other workers of ` +
      "node:cluster: listen with reusePort: true in every process (Linux), or use adapter: { type: 'node-http' } in workers",
    error,
  )
}
