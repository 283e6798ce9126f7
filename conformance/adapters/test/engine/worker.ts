/** A worker that serves until it is told otherwise; `workerData` says how it ends. */
import { parentPort, workerData } from 'node:worker_threads'
import type { Limits } from '@volant/engine'
import { createApp } from 'volant'

export type Ending = 'idle' | 'in-flight' | 'busy' | 'exit' | 'natural'

/** `limits` are those of an engine without a framework. */
export interface Order {
  readonly ending: Ending
  readonly limits: Limits
}

const { ending } = workerData as Order
const app = createApp({ adapter: { type: 'native' }, signals: false })
app.get('/', (ctx) => {
  parentPort?.postMessage('dispatched')
  switch (ending) {
    case 'in-flight':
      return new Promise<string>(() => {})
    case 'busy':
      for (;;) Math.sqrt(Math.random())
    case 'exit':
      ctx.text('bye')
      process.exit(0)
      return undefined
    default:
      setImmediate(() => void app.close())
      return 'bye'
  }
})
const { port } = await app.listen({ port: 0, host: '127.0.0.1' })
parentPort?.postMessage(port)
