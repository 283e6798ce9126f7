/** The unmodified middlewares, loaded as applications load them. Most of them bring no types. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createRequire } from 'node:module'

// oxlint-disable-next-line typescript/no-explicit-any -- middlewares set what they like
type Loose = any

export type Req = IncomingMessage & Record<string, Loose>
export type Res = ServerResponse & Record<string, Loose>
export type Next = (error?: unknown) => void
/** A handler or middleware of connect and Express. */
export type Handle = (req: Req, res: Res, next: Next) => unknown
/** Its handlers of errors take four parameters. */
export type Rescue = (error: Loose, req: Req, res: Res, next: Next) => unknown
export type Layer = Handle | Rescue

const load = createRequire(import.meta.url) as (name: string) => Loose
type Make = (options?: Loose, more?: Loose) => Handle

export const bodyParser = load('body-parser') as Record<'json' | 'urlencoded' | 'raw' | 'text', Make>
export const compression = load('compression') as Make
export const flash = load('connect-flash') as Make
export const cookieParser = load('cookie-parser') as Make
export const cors = load('cors') as Make
export const dnsPrefetchControl = load('dns-prefetch-control') as Make
export const express4 = load('express4') as Loose
export const express5 = load('express') as Loose
export const session = load('express-session') as Make & {
  Store: new () => Loose
  MemoryStore: new () => Loose
}
export const frameguard = load('frameguard') as Make
export const helmet = load('helmet') as Make
export const hidePoweredBy = load('hide-powered-by') as Make
export const hsts = load('hsts') as Make
export const proxies = load('http-proxy-middleware') as Record<string, Loose>
export const morgan = load('morgan') as Make
export const multer = load('multer') as Loose
export const Passport = (load('passport') as Loose).Passport as new () => Loose
export const LocalStrategy = (load('passport-local') as Loose).Strategy as new (
  options: Loose,
  verify?: Loose,
) => Loose
export const serveStatic = load('serve-static') as Make
export const xssProtection = load('x-xss-protection') as Make

const { devDependencies } = load('../../package.json') as { devDependencies: Record<string, string> }

/** The version of a package, which is pinned. */
export function versionOf(name: string): string {
  return String(devDependencies[name]).replace(/^npm:.*@/, '')
}
