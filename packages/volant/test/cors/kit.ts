/** An app behind `cors`, and the requests of a page to it. */
import { cors, type CorsOptions, HTTPError } from 'volant'
import { Kit, type Live, type Reply } from '../kit.ts'

export const here = 'https://app.example'

export const kit = new Kit()

export const serving = (options: CorsOptions | undefined, run: (live: Live) => Promise<void>) => {
  const app = kit.app({ limits: { maxBodySize: 10 } })
  app.use(cors(options))
  app.get('/x', (ctx) => ctx.text('x'))
  app.put('/x', (ctx) => ctx.text('x'))
  app.get('/vary', (ctx) => ctx.header('Vary', 'accept').header('vary', 'Accept, cookie').text('x'))
  app.get('/appended', (ctx) => ctx.append('vary', 'origin').append('Vary', 'accept').text('x'))
  app.get('/teapot', () => {
    throw new HTTPError(418, 'short', { headers: { vary: 'accept' } })
  })
  app.get('/broken', () => {
    throw new Error('broken')
  })
  app.post('/upload', { beforeBody: () => {} }, (ctx) => ctx.text(String(ctx.bodyBytes.length)))
  app.options('/own', (ctx) => ctx.text('own'))
  return kit.serve(app, run)
}

export const preflight = (live: Live, path: string, origin = here, more: Record<string, string> = {}) =>
  live.ask(path, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'PUT', ...more },
  })

export const allowed = (reply: Reply) => reply.headers['access-control-allow-origin']

export const ask = (live: Live, path: string, origin = here) => live.ask(path, { headers: { origin } })
