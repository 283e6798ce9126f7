/** The seventeen middlewares that the guide names, each with what it needs in front of it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  bodyParser,
  compression,
  cookieParser,
  cors,
  dnsPrefetchControl,
  flash,
  frameguard,
  type Handle,
  helmet,
  hidePoweredBy,
  hsts,
  LocalStrategy,
  morgan,
  multer,
  Passport,
  proxies,
  serveStatic,
  xssProtection,
} from './layers.ts'
import { sessions } from './sessions.ts'
import type { Site } from './site.ts'

/** What a middleware is installed with, and what is to be stopped after. */
export interface Installed {
  /** Where the replies of the middleware itself are, if it replies. */
  small?: string
  big?: string
  stop?: () => unknown
}

type Install = (site: Site) => Installed | void | Promise<Installed>

/** 10 MB that compression makes smaller, though not by much. */
export const big = Buffer.alloc(10 * 1024 * 1024)
for (let at = 0, state = 1; at < big.length; at++) {
  state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff
  big[at] = 32 + ((state >> 16) & 63)
}

const layers =
  (...make: (() => Handle)[]): Install =>
  (site) => {
    site.use(...make.map((each) => each()))
  }

export const seventeen: Record<string, Install> = {
  cors: layers(() => cors({ origin: 'https://a.example' })),
  'dns-prefetch-control': layers(() => dnsPrefetchControl()),
  frameguard: layers(() => frameguard()),
  'hide-powered-by': layers(() => hidePoweredBy()),
  hsts: layers(() => hsts()),
  'x-xss-protection': layers(() => xssProtection()),
  helmet: layers(() => helmet()),
  morgan: layers(() => morgan('combined', { stream: { write: () => {} } })),
  compression: layers(() => compression({ threshold: 0, level: 1 })),
  'cookie-parser': layers(() => cookieParser('secret')),
  'express-session': layers(() => sessions({ saveUninitialized: true }).layer),
  'body-parser': layers(
    () => bodyParser.json({ limit: '20mb' }),
    () => bodyParser.raw({ limit: '20mb' }),
  ),
  'connect-flash': layers(() => sessions().layer, flash as () => Handle),
  passport(site) {
    const auth = new Passport()
    auth.use(
      new LocalStrategy((_: string, _password: string, done: (error: null, user: false) => void) =>
        done(null, false),
      ),
    )
    site.use(sessions().layer, auth.initialize(), auth.session())
  },
  multer: layers(() => multer({ storage: multer.memoryStorage() }).any()),
  'serve-static'(site) {
    const root = mkdtempSync(join(tmpdir(), 'connect-seventeen-'))
    writeFileSync(join(root, 'small.txt'), 'small')
    writeFileSync(join(root, 'big.bin'), big)
    site.mount('/files', serveStatic(root, { lastModified: false, etag: false }))
    return { small: '/files/small.txt', big: '/files/big.bin', stop: () => rmSync(root, { recursive: true }) }
  },
  async 'http-proxy-middleware'(site) {
    const upstream = createServer((req, res) => {
      req.resume()
      res.end(req.url === '/big' ? big : 'small')
    })
    upstream.listen(0, '127.0.0.1')
    await once(upstream, 'listening')
    const { port } = upstream.address() as AddressInfo
    site.mount('/up', proxies['createProxyMiddleware']!({ target: `http://127.0.0.1:${port}` }))
    return { small: '/up/small', big: '/up/big', stop: () => stop(upstream) }
  },
}

async function stop(server: Server): Promise<void> {
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
}
