/** Bun.serve with HTTP/2, as its documentation shows. */
import { readFileSync } from 'node:fs'
import { entered, large, message, obey } from './control.ts'

declare const Bun: {
  serve(options: object): { readonly port: number }
  gc(now: boolean): void
}

const { CERT, KEY } = process.env
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  http2: true,
  ...(CERT !== undefined &&
    KEY !== undefined && { tls: { cert: readFileSync(CERT, 'utf8'), key: readFileSync(KEY, 'utf8') } }),
  routes: {
    '/': {
      GET() {
        entered()
        return Response.json(message)
      },
      async POST(request: Request) {
        entered()
        return Response.json({ length: (await request.text()).length })
      },
    },
    '/large': () => {
      entered()
      return new Response(large)
    },
  },
  fetch: () => new Response(null, { status: 404 }),
})
obey(server.port, () => Bun.gc(true))
