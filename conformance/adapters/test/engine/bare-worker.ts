/** As worker.ts, with the engine and no framework, which takes five times as long to load. */
import { parentPort, workerData } from 'node:worker_threads'
import { ContentType, type Host, nativeEngine } from '@volant/engine'
import type { Order } from './worker.ts'

const { ending, limits } = workerData as Order
const engine = nativeEngine()
if ('reason' in engine) throw new Error(engine.reason)

const host: Host = {
  limits,
  router: { caseSensitive: true, ignoreTrailingSlash: false, methods: [] },
  routes: [{ method: 'GET', pattern: '/', bodyMode: 0, maxBodySize: 0, requestTimeout: 0 }],
  dispatch(exchange) {
    parentPort?.postMessage('dispatched')
    switch (ending) {
      case 'in-flight':
        return
      case 'busy':
        for (;;) Math.sqrt(Math.random())
      case 'exit':
        exchange.end(200, ContentType.text, null, 'bye')
        process.exit(0)
        return
      default:
        setImmediate(() => void server.close())
        exchange.end(200, ContentType.text, null, 'bye')
    }
  },
}
const server = engine.adapter.createServer(host)
const { port } = await server.listen({ port: 0, host: '127.0.0.1' })
parentPort?.postMessage(port)
