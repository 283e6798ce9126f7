/** An app whose replies have tags. */
import { etag, type EtagOptions } from 'volant'
import { Kit } from '../kit.ts'

export const kit = new Kit()

export const serving = (run: Parameters<Kit['serve']>[1], options?: EtagOptions) => {
  const app = kit.app()
  app.use(etag(options))
  app.on(['GET', 'POST'], '/text', () => 'hello')
  app.get('/json', () => ({ hello: 'wörld' }))
  app.get('/bytes', () => Buffer.from('hello'))
  app.get('/html', (ctx) => ctx.html('hello'))
  app.get('/typed', (ctx) => ctx.header('content-type', 'text/html; charset=utf-8').text('hello'))
  app.get('/empty', () => '')
  app.get('/later', async () => 'hello')
  app.get('/own', (ctx) => ctx.header('ETag', '"v1"').text('hello'))
  app.get('/weak', (ctx) => ctx.header('etag', 'W/"v1"').text('hello'))
  app.get('/dated', (ctx) => ctx.header('last-modified', modified).text('hello'))
  return kit.serve(app, run)
}

export const modified = 'Thu, 29 Feb 2024 12:34:56 GMT'
