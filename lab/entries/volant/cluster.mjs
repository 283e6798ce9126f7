// Volant, as one process and as a worker of `volant start`: the same file. The commands of the lab about clusters run it.
import { createApp } from 'volant'
import { answer, host, nonceIn, orphan, port, ready, worker } from '../cluster/work.mjs'

const app = createApp({ startLine: false })
app.use((ctx, next) => {
  ctx.header('x-worker', worker)
  return next()
})
app.get('/json', () => ({ message: 'Hello World' }))
app.get('/orphan', () => orphan())
app.get('/:nonce', (ctx) => answer('GET', nonceIn(ctx.params.nonce)))
app.post('/:nonce', (ctx) => answer('POST', nonceIn(ctx.bodyText)))

await app.listen(port, host)
ready()
