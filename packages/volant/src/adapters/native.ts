/** The native engine, where it can be used. */
import { type Adapter, type ListenOptions, nativeEngine, type Server } from '@volant/engine'
import { explain } from './node-listen.ts'

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
    try {
      return await listen(options)
    } catch (error) {
      throw explain(error, options)
    }
  }
  return server
}
