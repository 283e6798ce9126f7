/** What every case is written with: a page of headless Chromium, and apps on the adapter under test. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { chromiumOptions, withoutChromium } from '@volant/test-kit'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { type AdapterType, type App, type AppOptions, createApp } from 'volant'

/** Only a hang takes as long, in ms: a browser on a busy machine is slow. */
const patience = 60_000

let browser: Promise<Browser> | undefined

after(async () => (await browser)?.close())

export interface Visit {
  readonly adapter: AdapterType
  readonly context: BrowserContext
  readonly page: Page
  /** A folder that is removed when the case ends. */
  readonly folder: string
  app(options?: AppOptions): App
  /** Serves `app` until the case ends; gives its origin. Each app has a port of its own, hence an origin of its own. */
  serve(app: App): Promise<string>
}

/** Defines a case, once for each adapter. A page that throws fails it. */
export function visit(
  name: string,
  run: (visit: Visit) => Promise<void>,
  adapters: readonly AdapterType[] = ['native', 'node-http'],
): void {
  for (const adapter of adapters) {
    test(`${name} (${adapter})`, { skip: withoutChromium, timeout: 6 * patience }, async () => {
      const apps: App[] = []
      const folder = mkdtempSync(join(tmpdir(), 'volant-browser-'))
      browser ??= chromium.launch(chromiumOptions)
      const context = await (await browser).newContext()
      context.setDefaultTimeout(patience)
      try {
        const page = await context.newPage()
        const thrown: Error[] = []
        page.on('pageerror', (error) => thrown.push(error))
        await run({
          adapter,
          context,
          page,
          folder,
          app: (options = {}) =>
            createApp({ adapter: { type: adapter }, signals: false, limits: { drainIdle: 0 }, ...options }),
          async serve(app) {
            apps.push(app)
            return (await app.listen(0, '127.0.0.1')).url
          },
        })
        if (thrown.length > 0) throw new AggregateError(thrown, 'the page threw')
      } finally {
        await context.close()
        await Promise.all(apps.map((app) => app.close()))
        rmSync(folder, { recursive: true, force: true })
      }
    })
  }
}

/** An HTML page. */
export function html(body = ''): string {
  return `<!doctype html><meta charset="utf-8"><title>x</title>${body}`
}
