/**
 * An app on an engine that can be told to panic. `VOLANT_ENGINE` names one built with the feature `faults`.
 *
 * `GET /arm/STAGE/NTH` arms a panic for the NTH time from now that the engine reaches STAGE.
 */
import { createRequire } from 'node:module'
import { createApp } from 'volant'

interface FaultyBinding {
  armFault(stage: number, nth: number): void
}

// The engine is one object for the whole process, whoever loads it first.
const addon = createRequire(import.meta.url)(process.env['VOLANT_ENGINE'] as string) as {
  open(...given: unknown[]): FaultyBinding
}
const { open } = addon
let binding: FaultyBinding | null = null
addon.open = (...given) => (binding = open(...given))

const app = createApp({ adapter: { type: 'native' }, signals: false })
app.get('/arm/:stage/:nth', (ctx) => {
  binding?.armFault(Number(ctx.params.stage), Number(ctx.params.nth))
  return 'armed'
})
app.get('/stats', () => app.stats())
app.get('/quit', () => void setImmediate(() => void app.close()))
app.get('/large', () => Buffer.alloc(200_000, 'x'))
app.get('/stream', (ctx) => {
  ctx.stream(
    (async function* () {
      for (let part = 0; part < 5; part++) {
        yield 'part'
        await new Promise((resolve) => setImmediate(resolve))
      }
    })(),
  )
})
app.post('/body', (ctx) => String(ctx.bodyBytes.length))
app.get('/:id', async (ctx) => ctx.params.id)
const { port } = await app.listen({ port: 0, host: '127.0.0.1' })
console.log(`port ${port}`)
