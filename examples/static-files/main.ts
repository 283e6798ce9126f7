/** Files get a type, caching and ranges, for players and resumed downloads. No path leads out of the folder. */
import { createApp } from 'volant'

const root = `${import.meta.dirname}/../public` // beside dist, where this file is compiled to

export const app = createApp()

app.get('/', (ctx) => ctx.file('index.html', { root }))
app.get('/assets/*path', (ctx) => {
  ctx.header('cache-control', 'public, max-age=3600')
  return ctx.file(ctx.params.path, { root })
})
app.get('/style/download', (ctx) => ctx.file('style.css', { root, download: 'our style.css' }))

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
