/** Tracing needs no change of the app: its diagnostics channels cost nothing until somebody listens. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { channel, subscribe } from 'node:diagnostics_channel'
import { setImmediate as turn } from 'node:timers/promises'
import { type Context, createApp, type ResponseInfo } from 'volant'

interface Span {
  name: string
  notes: string[]
}

const spans = new AsyncLocalStorage<Span>()
export const finished: { name: string; notes: string[]; status: number }[] = []

// A store bound to the start channel is set while the request runs, also across `await`.
channel('volant.request.start').bindStore(spans, (message) => {
  const { ctx } = message as { ctx: Context }
  return { name: `${ctx.method} ${ctx.pattern}`, notes: [] }
})
subscribe('volant.request.finish', (message) => {
  const { status } = message as { ctx: Context } & ResponseInfo
  const span = spans.getStore()
  if (span !== undefined) finished.push({ ...span, status })
})

export const app = createApp()

app.get('/users/:id', async (ctx) => ({ name: await query(`user ${ctx.params.id}`) }))

async function query(what: string): Promise<string> {
  await turn() // the store is still there
  spans.getStore()?.notes.push(`query: ${what}`)
  return 'Ada'
}

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
