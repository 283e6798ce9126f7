/** The status 103 has hints: the browser fetches what the page needs while the handler still works. */
import { setTimeout as wait } from 'node:timers/promises'
import { createApp } from 'volant'

const link = '</style.css>; rel=preload; as=style'

export const app = createApp()

app.get('/', async (ctx) => {
  ctx.earlyHints({ link })
  const rows = await slowQuery()
  ctx.header('link', link) // hints are no part of the reply
  ctx.html(`<!doctype html><link rel="stylesheet" href="/style.css"><p>${rows} rows`)
})

async function slowQuery(): Promise<number> {
  return wait(100, 42)
}

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
