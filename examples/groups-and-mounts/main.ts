/** In a larger app groups share a prefix and middleware, and an app of another file is mounted under a path. */
import { before, createApp } from 'volant'
import { blog } from './blog.ts'

export const app = createApp()

app.group('/api', (api) => {
  api.use(before((ctx) => ctx.header('cache-control', 'no-store')))
  api.onNotFound((ctx) => ({ error: `the API has no ${ctx.path}` }))

  api.get('/', () => ({ version: 1 }))
  api.group('/users/:id', (user) => {
    user.get('/', (ctx) => ({ id: ctx.params.id }))
    user.get('/posts/:post', (ctx) => ({ id: ctx.params.id, post: ctx.params.post }))
  })
})

app.mount('/blog', blog)

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
