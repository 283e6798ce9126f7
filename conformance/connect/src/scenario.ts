/** Plays each scenario on Express and on Volant with every adapter, and compares what came out. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { AppOptions } from 'volant'
import { type Client, comparable } from './client.ts'
import { differences } from './differences.ts'
import { expressSite, serveExpress } from './express-site.ts'
import type { Live, Site } from './site.ts'
import { serveVolant, unloadable, volantSite } from './volant-site.ts'

export interface Scenario<T = unknown> {
  /** Registers the layers and the handlers; what it returns, `play` is given. */
  build: (site: Site) => T | Promise<T>
  /** Sends requests, and tells what came of them. It may assert besides. */
  play: (client: Client, made: T, live: Live) => Promise<unknown>
  /** False where the scenario needs a socket. */
  memory?: boolean
  /** True if the scenario needs trailer fields, which uWebSockets.js does not have. */
  trailers?: boolean
  /** Frees what `build` made. */
  after?: (made: T) => unknown
  /** The options of the Volant app. */
  options?: AppOptions
  /** The version of Express that it is compared with. Default 5. */
  express?: 4 | 5
  /** True where errors are reported; they are then compared by the scenario, if at all. */
  reports?: boolean
}

/** So that `T` is inferred for each scenario. */
export function scenario<T>(one: Scenario<T>): Scenario {
  return one as unknown as Scenario
}

const adapters = ['native', 'node-http', 'uwebsockets', 'memory'] as const

export function scenarios(title: string, list: Record<string, Scenario>): void {
  describe(title, () => {
    for (const [name, one] of Object.entries(list)) {
      let expected: Promise<unknown> | undefined
      const oracle = (): Promise<unknown> => (expected ??= onExpress(one))
      test(`${name}: Express`, async () => void (await oracle()))
      for (const adapter of adapters) {
        if (adapter === 'memory' && one.memory === false) continue
        if (adapter === 'uwebsockets' && one.trailers === true) continue
        test(`${name}: ${adapter}`, { skip: unloadable(adapter) ?? false }, async () => {
          const wanted = await oracle()
          const site = volantSite(adapter, one.options)
          const made = await one.build(site)
          const live = await serveVolant(site)
          try {
            const outcome = comparable(await one.play(live.client, made, live))
            const lines = differences(wanted, outcome)
            if (lines.length > 0) throw new Error(`it differs from Express\n${lines.join('\n')}`)
          } finally {
            await live.close()
            await one.after?.(made)
          }
          if (one.reports !== true) assert.deepEqual(site.reports.map(String), [])
        })
      }
    }
  })
}

async function onExpress(one: Scenario): Promise<unknown> {
  const site = expressSite(one.express)
  const made = await one.build(site)
  const live = await serveExpress(site)
  try {
    return comparable(await one.play(live.client, made, live))
  } finally {
    await live.close()
    await one.after?.(made)
  }
}
