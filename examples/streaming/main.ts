/** Replies are sent in parts, as fast as the client reads them and only while it is connected. */
import { setTimeout as wait } from 'node:timers/promises'
import { createApp } from 'volant'

export const app = createApp()

/** A generator is sent chunk by chunk; if the client disconnects it ends, and `finally` runs. */
app.get('/rows.csv', (ctx) => {
  ctx.header('content-type', 'text/csv; charset=utf-8')
  return rows(1_000)
})

async function* rows(count: number): AsyncGenerator<string> {
  yield 'id,name\n'
  for (let id = 1; id <= count; id++) yield `${id},user ${id}\n`
}

/** Server-sent events are such a stream, too. */
app.get('/clock', (ctx) => {
  ctx.header('cache-control', 'no-store')
  ctx.stream(ticks(ctx.signal), { type: 'text/event-stream' })
})

export let watching = 0

async function* ticks(signal: AbortSignal): AsyncGenerator<string> {
  watching++
  try {
    while (!signal.aborted) {
      yield `data: ${new Date().toISOString()}\n\n`
      await wait(1_000, undefined, { signal }).catch(() => {}) // until the client disconnects or the app closes
    }
  } finally {
    watching--
  }
}

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
