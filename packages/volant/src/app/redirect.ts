/** The app of `redirectHttp`: it sends every request to HTTPS. */
import { ContentType, type Exchange, type Host, type Limits } from '@volant/engine'
import { refusalText } from '../adapters/refuse.ts'
import { CertificateNames, hostIn } from '../tls/names.ts'
import type { ResolvedTls } from '../tls/options.ts'

/** `tls` gives TLS as it is when a request comes. */
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
 * A host that no certificate is for is refused: whoever could send clients elsewhere by a Host of their choice would have an
 * open redirect.
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
