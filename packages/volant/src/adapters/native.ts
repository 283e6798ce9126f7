/** The native engine, where it can be used. */
import { type Adapter, type ListenOptions, nativeEngine, type Server } from '@volant/engine'
import { explain, ListenError, refuseSharing } from './node-listen.ts'

/** The native engine, or why it cannot be used here. */
export function nativeAdapter(): { adapter: Adapter } | { reason: string } {
  const engine = nativeEngine()
  if ('reason' in engine) return engine
  const { adapter } = engine
  return {
    adapter: { ...adapter, createServer: (host) => withExplanations(adapter.createServer(host)) },
  }
}

/** The same server, with listening errors that say what to do. */
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

/** A worker of node:cluster, where node:http would have been given the socket of its parent. */
function isSharing(error: unknown): boolean {
  if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') return false
  // Loaded here only: it brings node:child_process with it.
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
