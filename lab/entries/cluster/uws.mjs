// uWebSockets.js on worker threads, as its example WorkerThreads.js: the main thread accepts, and hands connections to
// the apps of the threads in turn. With the argument `alone` the main thread serves by itself. There is no way to take a thread out, so there is no rolling restart.
import { createRequire } from 'node:module'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import { answer, host, nonceIn, port, ready, worker } from './work.mjs'

// The newest release runs on Node.js 22 and later.
const onNode20 = process.versions.node.startsWith('20.')
const require = createRequire(new URL('../uws/package.json', import.meta.url))
const uws = require(onNode20 ? 'uWebSockets.js' : '@uwsjs/core')

const app = uws.App()
const isAlone = process.argv[2] === 'alone'
if (isMainThread && !isAlone) {
  for (let left = Number(process.env.WORKERS); left > 0; left--) {
    new Worker(new URL(import.meta.url)).on('message', (descriptor) => app.addChildAppDescriptor(descriptor))
  }
  app.listen(host, port, (socket) => {
    if (!socket) throw new Error(`port ${port} is in use`)
  })
} else {
  app.get('/json', (response) => {
    response.writeHeader('x-worker', worker)
    response.writeHeader('content-type', 'application/json').end('{"message":"Hello World"}')
  })
  app.any('/:nonce', (response, request) => {
    let isGone = false
    response.onAborted(() => (isGone = true))
    const reply = async (method, text) => {
      const own = await answer(method, nonceIn(text))
      if (!isGone) response.cork(() => response.writeHeader('x-worker', worker).end(own))
    }
    if (request.getMethod() === 'get') return void reply('GET', request.getParameter(0))
    let body = ''
    response.onData((part, isLast) => {
      body += Buffer.from(part).toString('latin1')
      if (isLast) void reply('POST', body)
    })
  })
  parentPort?.postMessage(app.getDescriptor())
  app.listen(host, isAlone ? port : 0, () => ready())
}
