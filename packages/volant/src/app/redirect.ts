/** The app of `redirectHttp`: it redirects every request to HTTPS. */
import { ContentType, type Exchange, type Host, type Limits } from '@volant/engine'
import { refusalText } from '../adapters/refuse.ts'
import { CertificateNames, hostIn } from '../tls/names.ts'
import type { ResolvedTls } from '../tls/options.ts'

/** Makes the app. `tls` gives the current settings of TLS at each request. */
export function redirectingHost(limits: Limits, httpsPort: number, tls: () => ResolvedTls | null): Host {
  let known: { readonly tls: ResolvedTls; readonly names: CertificateNames } | null = null
  const serves = (host: string): boolean => {
    const current = tls()
    if (current === null) return false
    if (known?.tls !== current) known = { tls: current, names: new CertificateNames(current.config) }
    return known.names.find(host) !== null || current.addresses.has(host.replace(/^\[|\]$/g, ''))
  }
  return {
    routes: [],
    router: { caseSensitive: true, ignoreTrailingSlash: false, methods: [] },
    limits,
    dispatch: (exchange) => redirect(exchange, httpsPort, serves),
  }
}

/**
 * Redirects a request. A host without a certificate is refused, because a client could otherwise be redirected to any
 * host (open redirect).
 */
function redirect(exchange: Exchange, httpsPort: number, serves: (host: string) => boolean): void {
  const { path, query, authority } = exchange
  const host = hostIn(authority)
  const detail = !path.startsWith('/')
    ? 'The target of this request is no path.'
    : serves(host)
      ? undefined
      : 'No certificate of this server is for the host of this request.'
  if (detail !== undefined)
    return exchange.end(400, ContentType.problem, null, refusalText('E_BAD_REQUEST', detail))
  const port = httpsPort === 443 ? '' : `:${httpsPort}`
  const target = `https://${host}${port}${path}${query === '' ? '' : `?${query}`}`
  exchange.end(308, ContentType.custom, ['Location', target], null)
}
