/** `ctx.request`: the request as the web platform knows it. */
import { BodyKind } from '@volant/engine'
import type { RequestContext } from './context.ts'

export function webRequest(ctx: RequestContext): Request {
  const { exchange, method } = ctx
  const raw = exchange.rawHeaders()
  const headers = new Headers()
  for (let at = 0; at < raw.length; at += 2) headers.append(raw[at] as string, raw[at + 1] as string)
  const init: RequestInit & { duplex?: 'half' } = { method, headers, signal: ctx.signal }
  if (method !== 'GET' && method !== 'HEAD' && exchange.bodyKind !== BodyKind.none) {
    init.body = ctx.bodyStream
    init.duplex = 'half'
  }
  return new Request(urlOf(ctx), init)
}

/** A host that HTTP allows may be none to a URL (`a%zz`, `1.2.3.4.5`): clients choose it, so it is no error here. */
function urlOf({ protocol, host, path, url }: RequestContext): string {
  const target = path === '*' ? '/' : url
  const whole = `${protocol}://${host}${target}`
  return host !== '' && URL.canParse(whole) ? whole : `${protocol}://localhost${target}`
}
