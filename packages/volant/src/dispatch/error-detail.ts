/** Describes an unexpected error in its reply, for the person who develops the app. */
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import type { RequestContext } from '../types/request.ts'

/** The most characters that are shown of an error. */
const longest = 1_000

/** Describes the error; null where this client may not see it. Never throws. */
export function errorDetail(ctx: RequestContext, error: unknown): string | null {
  const { errorDetails, reportsToStderr } = ctx.app
  if (errorDetails === 'nobody' || (errorDetails === 'local' && !isLocal(ctx))) return null
  try {
    const said = cut(error instanceof Error ? wordsOf(error) : `${inspect(error, { depth: 0 })} was thrown`)
    const place = error instanceof Error ? placeOf(error.stack) : null
    const stack = `${reportsToStderr ? 'stderr' : 'the report option'} has the stack`
    const why =
      errorDetails === 'local'
        ? 'Sent to clients on this machine alone, and to nobody where NODE_ENV is production.'
        : 'Sent because errorDetails is true.'
    return `${said}${place === null ? '' : ` (${place})`}; ${stack}. ${why}`
  } catch {
    return null
  }
}

/**
 * True for a client on this machine. A proxy here passes on requests of others, but most proxies say so in a header, or
 * leave the name of the site in Host. The same holds for a browser whose page made it ask this machine by another name
 * (DNS rebinding).
 */
export function isLocal({ exchange }: RequestContext): boolean {
  return (
    /^(?:(?:::ffff:)?127\.|::1$)/.test(exchange.remoteAddress) &&
    /^(?:(?:[^:]+\.)?localhost|127(?:\.\d+){3}|\[::1\])(?::\d*)?$/i.test(exchange.authority) &&
    proxyFields.every((name) => exchange.header(name) === undefined)
  )
}

const proxyFields = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
] as const

function wordsOf(error: Error): string {
  const { code } = error as { code?: unknown }
  return `${typeof code === 'string' ? code : error.name}: ${error.message}`
}

function cut(text: string): string {
  return text.length > longest ? `${text.slice(0, longest)}…` : text
}

/** The compiled files of this package, and the sources that source maps name in their place. */
const ownFolders = ['..', '../../../src/'].map((path) => fileURLToPath(new URL(path, import.meta.url)))

/** Gives the first position in the stack that is in the app itself, as `src/app.ts:12:5`. */
function placeOf(stack: string | undefined): string | null {
  for (const [, at = ''] of (stack ?? '').matchAll(/^ +at (?:.*\()?(.+?:\d+:\d+)\)?$/gm)) {
    const path = at.startsWith('file:') ? fileURLToPath(at) : at
    if (
      !/^(?:\/|[A-Za-z]:\\)/.test(path) ||
      /[/\\]node_modules[/\\]/.test(path) ||
      ownFolders.some((folder) => path.startsWith(folder))
    )
      continue
    const near = relative(process.cwd(), path)
    return near.startsWith('..') ? path : near
  }
  return null
}
