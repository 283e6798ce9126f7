/** Apps on each adapter whose layers are wrong, and what they report. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AppOptions } from 'volant'
import { type Client } from '../../src/client.ts'
import type { Site } from '../../src/site.ts'
import { serveVolant, unloadable, volantSite } from '../../src/volant-site.ts'

/** What is asked for after a fault. */
export function fine(site: Site): void {
  site.reply('GET', '/fine', () => ({ body: 'fine' }))
}

/** What has another result than in Express: each adapter has the same. */
export function onEach(
  name: string,
  options: AppOptions,
  build: (site: Site) => unknown,
  play: (client: Client, reports: unknown[]) => Promise<void>,
): void {
  for (const adapter of ['native', 'node-http', 'uwebsockets'] as const) {
    test(`${name}: ${adapter}`, { skip: unloadable(adapter) ?? false }, async () => {
      const site = volantSite(adapter, options)
      await build(site)
      const live = await serveVolant(site)
      try {
        await play(live.client, site.reports)
        // The server still answers.
        assert.equal((await live.client.get('/fine')).text, 'fine')
      } finally {
        await live.close()
      }
    })
  }
}

export const codes = (reports: unknown[]): unknown[] =>
  reports.map((error) => (error as { code?: string }).code ?? String(error))

export function withFine(build: (site: Site) => void): (site: Site) => void {
  return (site) => {
    site.reply('GET', '/fine', () => ({ body: 'fine' }))
    build(site)
  }
}
