/** A plugin has a scope of its own, and hooks that run when the app starts, listens and closes. */
import { createApp, type Scope } from 'volant'

interface Store {
  get(key: string): string | undefined
  close(): void
}

async function connect(seed: Record<string, string>): Promise<Store> {
  const rows = new Map(Object.entries(seed))
  return { get: (key) => rows.get(key), close: () => rows.clear() }
}

/** Async plugins are waited for before the app starts; what they throw is what `listen` rejects with. */
export async function notes(scope: Scope, options: { seed: Record<string, string> }): Promise<void> {
  const store = await connect(options.seed)
  scope.onClose(() => store.close())
  scope.onResponse((ctx, { status, duration }) => {
    console.log(`${ctx.method} ${ctx.pattern} ${status} ${duration.toFixed(1)} ms`)
  })
  scope.get('/notes/:key', (ctx) => store.get(ctx.params.key) ?? ctx.reply(404, 'no such note'))
}

export const app = createApp()

app.onStart(() => console.log('before it listens: plugins are through'))
app.onReady(({ url: where }) => console.log(`listening on ${where}`))
app.onClose(() => console.log('all connections are closed'))
app.register(notes, { seed: { first: 'remember the milk' } })

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
