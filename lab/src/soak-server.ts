/** The server of `lab soak`: run with `--expose-gc` and an IPC channel, over which it gives its figures. */
import { readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { createApp, type AdapterType } from 'volant'
import { largeBytes, type SoakFigures, streamParts } from './soak-figures.ts'

const app = createApp({ adapter: { type: process.argv[2] as AdapterType }, signals: false })
app.get('/now/:nonce', (ctx) => ctx.params.nonce)
app.get('/later/:nonce', async (ctx) => {
  await new Promise((resolve) => setImmediate(resolve))
  return ctx.params.nonce
})
app.get('/large/:nonce', (ctx) => Buffer.alloc(largeBytes, `${ctx.params.nonce} `))
app.get('/stream/:nonce', (ctx) => {
  const { nonce } = ctx.params
  const parts = (async function* () {
    for (let part = 0; part < streamParts; part++) {
      yield nonce
      await new Promise((resolve) => setImmediate(resolve))
    }
  })()
  ctx.stream(parts, { length: streamParts * nonce.length })
})
app.post('/echo', (ctx) => ctx.bodyBytes)

const { port } = await app.listen({ port: 0, host: '127.0.0.1' })
process.on(
  'message',
  (asked) => void (asked === 'stop' ? app.close().then(() => process.disconnect?.()) : figures()),
)
process.send?.(port)

async function figures(): Promise<void> {
  // Clients have left; what is still open after 5 s is a leak.
  for (let tries = 0; tries < 100 && busy(); tries++) await sleep(50)
  // One collection leaves what finalisers hold on to.
  for (let round = 0; round < 8; round++) {
    globalThis.gc?.()
    await sleep(100)
  }
  const { connections, inFlight, panics = 0 } = app.stats()
  const answer: SoakFigures = {
    residentBytes: process.memoryUsage.rss(),
    // One of them is the folder's own while it is read.
    openFiles: readdirSync('/proc/self/fd').length - 1,
    connections,
    inFlight,
    panics,
  }
  process.send?.(answer)
}

function busy(): boolean {
  const { connections, inFlight } = app.stats()
  return connections > 0 || inFlight > 0
}
