/** What a request is called in traces and metrics, by the semantic conventions of OpenTelemetry for HTTP. */
import type { Attributes } from '@opentelemetry/api'
import { HTTPError } from '../errors/errors.ts'
import { redactQuery } from '../log/redact.ts'
import type { ResponseInfo } from '../types/declaration.ts'
import type { RequestContext } from '../types/request.ts'

/**
 * The methods that spans and metrics name; each other one is `_OTHER`, so that clients cannot invent series. The
 * conventions give the name of the variable that replaces the list.
 */
const knownMethods: ReadonlySet<string> = new Set(
  (
    process.env['OTEL_INSTRUMENTATION_HTTP_KNOWN_METHODS'] ??
    'GET,HEAD,POST,PUT,PATCH,DELETE,OPTIONS,QUERY,CONNECT,TRACE'
  )
    .split(',')
    .map((name) => name.trim()),
)

export const otherMethod = '_OTHER'

/** Gives the method, or `_OTHER`. */
export function methodOf({ method }: RequestContext): string {
  return knownMethods.has(method) ? method : otherMethod
}

/** Gives the name of the span: the method and the route's pattern, or the method alone where no route took the path. */
export function nameOf(method: string, pattern: string | null): string {
  const verb = method === otherMethod ? 'HTTP' : method
  return pattern === null ? verb : `${verb} ${pattern}`
}

/** Gives the attributes that samplers decide by. They are few, since they are made for each request. */
export function samplerAttributes(method: string, path: string, pattern: string | null): Attributes {
  return pattern === null
    ? { 'http.request.method': method, 'url.path': path }
    : { 'http.request.method': method, 'url.path': path, 'http.route': pattern }
}

/** What of a request goes into its span beyond what the conventions ask for. */
export interface Recorded {
  /** The names of query parameters in lower case whose values are left out. */
  readonly secrets: ReadonlySet<string>
  /** The request headers in lower case, each with the attribute it becomes. */
  readonly requestHeaders: readonly (readonly [name: string, attribute: string])[]
  readonly responseHeaders: ReadonlyMap<string, string>
}

/** Gives the other attributes of a request, for a span that is recorded. */
export function requestAttributes(ctx: RequestContext, method: string, recorded: Recorded): Attributes {
  const { exchange } = ctx
  const { query } = exchange
  const scheme = ctx.protocol
  const [address, port] = authorityOf(ctx.host, scheme)
  const attributes: Attributes = {
    'url.scheme': scheme,
    'client.address': ctx.ip,
    'network.protocol.version': ctx.httpVersion,
  }
  if (address !== '') {
    attributes['server.address'] = address
    attributes['server.port'] = port
  }
  if (query !== '') {
    const isSecret = (name: string): boolean => recorded.secrets.has(name.toLowerCase())
    attributes['url.query'] = redactQuery(query, isSecret, 'REDACTED')
  }
  if (method === otherMethod) attributes['http.request.method_original'] = ctx.method
  const agent = exchange.header('user-agent')
  if (agent !== undefined) attributes['user_agent.original'] = agent
  if (ctx.app.trust !== null) attributes['network.peer.address'] = exchange.remoteAddress
  for (const [name, attribute] of recorded.requestHeaders) {
    const value = exchange.header(name)
    if (value !== undefined) attributes[attribute] = [value]
  }
  return attributes
}

/** Takes `host:port` apart; without a port the scheme has one. */
function authorityOf(authority: string, scheme: 'http' | 'https'): [address: string, port: number] {
  const parts = /^(.*?)(?::(\d*))?$/.exec(authority) as RegExpExecArray
  const [, address = '', port] = parts
  return [
    address.startsWith('[') ? address.slice(1, -1) : address,
    port === undefined || port === '' ? (scheme === 'https' ? 443 : 80) : Number(port),
  ]
}

/** Gives the attributes of the reply's headers that are recorded. */
export function replyHeaders(ctx: RequestContext, wanted: Recorded['responseHeaders']): Attributes {
  const attributes: Record<string, string[]> = {}
  const list = ctx.replyHeaders ?? []
  for (let at = 0; at < list.length; at += 2) {
    const attribute = wanted.get((list[at] as string).toLowerCase())
    if (attribute !== undefined) (attributes[attribute] ??= []).push(list[at + 1] as string)
  }
  return attributes
}

/**
 * Gives the kind of failure, or undefined where there was none: the code or name of the error behind a reply from 500 on
 * or a reply that broke off, else its status.
 */
export function errorTypeOf({ status, error, aborted }: ResponseInfo): string | undefined {
  if (status < 500 && !aborted) return undefined
  if (error instanceof Error && !(error instanceof HTTPError && error.code === undefined)) {
    const { code } = error as { code?: unknown }
    return typeof code === 'string' ? code : error.name
  }
  return aborted ? 'E_ABORTED' : String(status)
}
