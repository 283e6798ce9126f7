/** A Volant app with layers of Connect through `fromConnect`. */
import { idleLimits, thrownMessage } from '@volant/test-kit'
import { type AdapterType, type App, type AppOptions, type Context, createApp } from 'volant'
import { connectOf, fromConnect } from 'volant/connect'
import { Client } from './client.ts'
import type { Layer, Req } from './layers.ts'
import { type Answer, headersOf, type Live, type Site } from './site.ts'

const streamed = { bodyMode: 'stream', maxBodySize: 64 * 1024 * 1024 } as const

type Where = AdapterType | 'memory'

export function volantSite(where: Where, options: AppOptions = {}): Site & { app: App } {
  const reports: unknown[] = []
  const app = createApp({
    ...(where === 'memory' ? {} : { adapter: { type: where } }),
    signals: false,
    errorDetails: false,
    report: (error) => void reports.push(error),
    ...options,
    limits: { drainIdle: 0, ...options.limits, ...idleLimits(where, options.limits) },
  })
  const on = app.on.bind(app) as unknown as (...given: unknown[]) => void
  const wrap = (layer: Layer) => fromConnect(layer as never)
  return {
    app,
    name: where,
    reports,
    use: (...layers) => layers.forEach((layer) => app.use(wrap(layer))),
    mount(prefix, ...layers) {
      for (const layer of layers) app.use(prefix, wrap(layer))
      // A request that no route takes has no body.
      app.all(`${prefix === '/' ? '' : prefix}/*`, streamed, (ctx) => ctx.text('nothing here', 404))
    },
    handle: (method, path, ...layers) => on([method], path, ...layers.map(wrap)),
    streamed: (method, path, ...layers) => on([method], path, streamed, ...layers.map(wrap)),
    reply(method, path, answer, ...layers) {
      on([method], path, ...layers.map(wrap), async (ctx: Context) => {
        // A handler that asks nothing of the request leaves the reply to the framework alone.
        give(ctx, await answer((answer.length === 0 ? undefined : connectOf(ctx).req) as Req))
      })
    },
  }
}

/** Replies by the context, as handlers of Volant do. */
function give(ctx: Context, { status = 200, headers, body }: Answer): void {
  for (const [name, value] of Object.entries(headersOf(headers, body))) ctx.header(name, value)
  ctx.status(status)
  if (body === null) ctx.reply(status as never, null as never)
  else if (typeof body === 'string') ctx.text(body)
  else if (body instanceof Uint8Array) ctx.bytes(body)
  else ctx.stream(body)
}

export async function serveVolant(site: Site & { app: App }): Promise<Live> {
  const { app } = site
  const address = site.name === 'memory' ? null : await app.listen({ port: 0, host: '127.0.0.1' })
  const client = new Client(address, address === null ? app : null)
  return {
    site,
    address,
    client,
    async close() {
      client.close()
      await app.close()
    },
  }
}

const known = new Map<Where, string | null>([['memory', null]])

/** Why an adapter cannot run here, or null. */
export function unloadable(adapter: Where): string | null {
  if (!known.has(adapter))
    known.set(
      adapter,
      thrownMessage(() => createApp({ adapter: { type: adapter as AdapterType }, signals: false })),
    )
  return known.get(adapter) as string | null
}
