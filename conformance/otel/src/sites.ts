/** Apps on each adapter. */
import { describe } from 'node:test'
import { idleLimits, thrownMessage } from '@volant/test-kit'
import { type Address, type AdapterType, type App, type AppOptions, createApp } from 'volant'

export const adapters = ['native', 'node-http', 'uwebsockets'] as const

/** Runs the cases on each adapter; one that cannot be loaded here is skipped by name. */
export function onEach(what: string, cases: (site: Site) => void): void {
  for (const adapter of adapters) {
    describe(`${what}, ${adapter}`, { skip: unloadable(adapter) ?? false }, () => cases(new Site(adapter)))
  }
}

function unloadable(type: AdapterType): string | null {
  return thrownMessage(() => createApp({ adapter: { type }, signals: false }))
}

export class Site {
  readonly adapter: AdapterType
  /** The errors that apps reported. */
  readonly reports: unknown[] = []

  constructor(adapter: AdapterType) {
    this.adapter = adapter
  }

  app(options: AppOptions = {}): App {
    return createApp({
      adapter: { type: this.adapter },
      signals: false,
      errorDetails: false,
      report: (error) => void this.reports.push(error),
      ...options,
      limits: { drainIdle: 0, ...options.limits, ...idleLimits(this.adapter, options.limits) },
    })
  }

  /** Has the app listen while `run` runs. */
  async serve(app: App, run: (url: string, address: Address) => Promise<void>): Promise<void> {
    const address = await app.listen({ port: 0, host: '127.0.0.1' })
    try {
      await run(address.url, address)
    } finally {
      await app.close()
    }
  }
}
