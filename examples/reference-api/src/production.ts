/** What a service in production has around its routes: each line is described on a page of the guide. */
import { type App, cors, logger, metrics, requestId, securityHeaders } from 'volant'
import { anyOf, basic, bearer } from 'volant/auth'
import { compress } from 'volant/compress'
import { debug } from 'volant/debug'
import { allowedHosts, cspReport, timeout, tooBusy } from 'volant/middleware'
import { otel } from 'volant/otel'

export interface ProductionSettings {
  /** Programs send it as a bearer token, people as the password of `admin`, which browsers ask for. */
  readonly token: string
  /** The names under which clients know the service; all of them where there are none. */
  readonly hosts?: readonly string[]
  /** The milliseconds by which timers may come late before requests are refused; default 200, and below 10,000. */
  readonly maxEventLoopDelay?: number | undefined
}

/** What load balancers ask: it is answered under load, under any name, and without a trace or a line in the log. */
const probes = ['/health', '/ready']

/** Puts it around the routes of `app`, and gives what some of them need for themselves. */
export function production(app: App, { token, hosts = [], maxEventLoopDelay }: ProductionSettings) {
  const meter = metrics()
  app.use(
    otel({ ignore: probes }),
    meter,
    securityHeaders({ reportingEndpoints: { csp: '/csp-reports' } }),
    tooBusy({ ignore: probes, maxEventLoopDelay }),
    timeout(10_000),
    compress(),
  )
  if (hosts.length > 0) app.use(allowedHosts(hosts, { ignore: probes }))
  app.use('/api', requestId(), logger(), cors())
  app.register(cspReport)

  const guard = anyOf(bearer({ token }), basic({ users: { admin: token }, realm: 'reference service' }))
  app.register(debug, { guard })
  return { meter, guard }
}
