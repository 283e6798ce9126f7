/** The upstream that http-proxy-middleware asks, and scenarios with it. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { gzipSync } from 'node:zlib'
import { proxies } from '../../src/layers.ts'
import { type Scenario, scenario } from '../../src/scenario.ts'
import type { Site } from '../../src/site.ts'

export const part = Buffer.alloc(65_536, 'proxied ')

/** What the upstream tells of requests that ended without a reply. */
export interface Upstream {
  server: Server
  url: string
  left: string[]
  sent: number
}

export async function upstream(): Promise<Upstream> {
  const state: Upstream = { server: createServer(), url: '', left: [], sent: 0 }
  state.server.on('request', (req: IncomingMessage, res: ServerResponse) => {
    res.on('close', () => {
      if (!res.writableFinished) state.left.push(req.url ?? '')
    })
    answer(state, req, res)
  })
  state.server.listen(0, '127.0.0.1')
  await once(state.server, 'listening')
  state.url = `http://127.0.0.1:${(state.server.address() as AddressInfo).port}`
  return state
}

export function answer(state: Upstream, req: IncomingMessage, res: ServerResponse): void {
  const path = req.url ?? ''
  if (path.startsWith('/echo')) {
    const parts: Buffer[] = []
    req.on('data', (bytes: Buffer) => parts.push(bytes))
    req.on('end', () => {
      const body = Buffer.concat(parts)
      const names = [
        'host',
        'content-type',
        'content-length',
        'transfer-encoding',
        'x-forwarded-for',
        'x-forwarded-proto',
        'x-one',
        'cookie',
        'accept-encoding',
      ]
      const headers = Object.fromEntries(names.map((name) => [name, req.headers[name] ?? null]))
      if (String(headers['host']).startsWith('127.0.0.1')) headers['host'] = 'the upstream'
      // The hash stands for large bodies.
      res.setHeader('Content-Type', 'application/json')
      res.end(
        JSON.stringify([req.method, path, headers, body.length, body.subarray(0, 50).toString('latin1')]),
      )
    })
  } else if (path === '/fields') {
    res.writeHead(207, 'Its own words', [
      'Set-Cookie',
      'a=1; Domain=up.example; Path=/x',
      'Set-Cookie',
      'b=2',
      'X-Up',
      'yes',
      'Keep-Alive',
      'timeout=5',
      'Connection',
      'keep-alive',
      'ETag',
      '"tag"',
      'Server',
      'up',
      'Vary',
      'one',
      'Vary',
      'two',
      'Content-Language',
      'de',
    ])
    res.end('fields')
  } else if (path === '/moved') {
    res.writeHead(302, { Location: `${state.url}/echo` })
    res.end()
  } else if (path === '/no-content') {
    res.writeHead(204)
    res.end()
  } else if (path === '/not-modified') {
    res.writeHead(304, { ETag: '"tag"' })
    res.end()
  } else if (path === '/chunks') {
    res.write('one ')
    setImmediate(() => res.end('two'))
  } else if (path === '/gzip') {
    res.writeHead(200, { 'Content-Type': 'text/plain', 'Content-Encoding': 'gzip' })
    res.end(gzipSync('zipped '.repeat(500)))
  } else if (path === '/text') {
    res.writeHead(200, { 'Content-Type': 'text/plain' })
    res.end('text '.repeat(1000))
  } else if (path === '/big') {
    res.writeHead(200, { 'Content-Length': String(part.length * 800) })
    let count = 0
    const more = (): void => {
      while (count < 800) {
        count++
        state.sent += part.length
        if (!res.write(part)) return void res.once('drain', more)
      }
      res.end()
    }
    more()
  } else if (path === '/dies') {
    res.writeHead(200, { 'Content-Length': '1000' })
    res.write('a part', () => res.destroy())
  } else if (path === '/resets') req.socket.resetAndDestroy()
  else if (path === '/events') {
    res.writeHead(200, { 'Content-Type': 'text/event-stream' })
    res.write('data: one\n\n')
  } else if (path !== '/never') {
    res.statusCode = 404
    res.end('up: not found')
  }
}

export async function stop({ server }: Upstream): Promise<void> {
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
}

export interface Made {
  up: Upstream
  seen: string[]
}

export function proxied(
  options: (url: string) => object,
  play: Scenario<Made>['play'],
  more: Partial<Scenario<Made>> = {},
): Scenario {
  return scenario<Made>({
    async build(site: Site) {
      const up = await upstream()
      const seen: string[] = []
      site.mount(
        '/api',
        proxies['createProxyMiddleware']!({ target: up.url, changeOrigin: true, ...options(up.url) }),
      )
      site.reply('GET', '/route', () => ({ headers: { 'content-type': 'text/plain' }, body: 'a route' }))
      return { up, seen }
    },
    after: ({ up }) => stop(up),
    // The port of the upstream differs from run to run.
    async play(client, made, live) {
      const text = JSON.stringify((await play(client, made, live)) ?? null, (_, value: unknown) =>
        value instanceof Uint8Array ||
        (typeof value === 'object' && value !== null && (value as { type?: string }).type === 'Buffer')
          ? digest(value)
          : value,
      )
      return JSON.parse(text.replaceAll(made.up.url, 'http://up')) as unknown
    },
    ...more,
  })
}

export function digest(value: unknown): string {
  const bytes = Buffer.from(((value as { data?: number[] }).data ?? value) as number[])
  return bytes.length < 2048
    ? bytes.toString('latin1')
    : `${bytes.length} bytes ${bytes.subarray(-16).toString('latin1')}`
}
