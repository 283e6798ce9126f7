/** The servers of an app that listens: its own, and that of `redirectHttp`. */
import type { Adapter, Address, Limits, ListenOptions, Server } from '@volant/engine'
import type { CompiledApp } from '../dispatch/compiled-app.ts'
import { VolantError } from '../errors/errors.ts'
import { printLine } from '../report/print-line.ts'
import { CertificateNames } from '../tls/names.ts'
import { type ResolvedTls, resolveTls, type TlsOptions } from '../tls/options.ts'
import type { ResolvedListen } from './listen-options.ts'
import { redirectingHost } from './redirect.ts'
import { listenBySupervisor } from './supervised.ts'
import { supervision } from '../worker/supervision.ts'

export class Servers {
  readonly #adapter: Adapter
  readonly #limits: Limits
  readonly #core: CompiledApp
  readonly #own: Server
  #redirects: Server | null = null
  /** What has to be done before servers of a worker close, so that no more connections come to them. */
  readonly #stops: (() => Promise<void>)[] = []
  /** The current settings of TLS; null without TLS. */
  #tls: ResolvedTls | null = null

  /** `own` has been made for `core`, by `adapter` or for a library that attaches itself to it. */
  constructor(adapter: Adapter, limits: Limits, core: CompiledApp, own: Server) {
    this.#adapter = adapter
    this.#limits = limits
    this.#core = core
    this.#own = own
  }

  async listen({ server: options, tls, redirect }: ResolvedListen): Promise<Address> {
    this.#adoptTls(tls)
    // An adapter that does not know the option would listen without encryption.
    if (options.tls !== undefined && this.#own.setTls === undefined) {
      throw new VolantError(
        'E_UNSUPPORTED',
        `the adapter ${this.#adapter.name} has no TLS: use another, or let a proxy in front of the app have it`,
      )
    }
    const address = await this.#listen(this.#own, options)
    // Adapters that only know addresses give the scheme `http:`.
    if (options.tls !== undefined) address.url = address.url.replace(/^http:/, 'https:')
    if (redirect === null) return address
    const httpsPort = redirect.httpsPort ?? (address.port as number)
    const second = this.#adapter.createServer(redirectingHost(this.#limits, httpsPort, () => this.#tls))
    try {
      const { ipv6Only, backlog, reusePort } = options
      const { port, host } = redirect
      await this.#listen(second, { port, host, ipv6Only, backlog, reusePort })
    } catch (error) {
      await this.close(0)
      throw error
    }
    this.#redirects = second
    return address
  }

  /** A worker has the addresses of its supervisor; what it was given as a descriptor is its own. */
  async #listen(server: Server, options: ListenOptions): Promise<Address> {
    const supervisor = supervision()
    if (supervisor === null || options.fd !== undefined) return server.listen(options)
    const { address, stop } = await listenBySupervisor(supervisor, this.#adapter.name, server, options)
    this.#stops.push(stop)
    return address
  }

  /**
   * Replaces the settings. Gives false if there is no TLS. Throws `E_BAD_OPTION`; then the old settings stay in use.
   */
  setTls(options: TlsOptions): boolean {
    if (this.#tls === null || this.#own.setTls === undefined) return false
    const tls = resolveTls(options, this.#tls.config.http2)
    this.#own.setTls(tls.config)
    this.#adoptTls(tls)
    return true
  }

  #adoptTls(tls: ResolvedTls | null): void {
    this.#tls = tls
    const several = tls !== null && tls.config.certificates.length > 1
    this.#core.certificates = several ? new CertificateNames(tls.config) : null
    for (const warning of tls?.warnings ?? []) printLine(`volant: ${warning}`)
  }

  publish(topic: string, data: string | Uint8Array): void {
    this.#own.publish?.(topic, data)
  }

  stats(): ReturnType<Server['stats']> {
    return this.#own.stats()
  }

  async close(drainIdle: number | undefined): Promise<void> {
    await Promise.all(this.#stops.map((stop) => stop()))
    await Promise.all([this.#own.close(drainIdle), this.#redirects?.close(drainIdle)])
  }

  ref(): void {
    this.#own.ref()
    this.#redirects?.ref()
  }

  unref(): void {
    this.#own.unref()
    this.#redirects?.unref()
  }
}
