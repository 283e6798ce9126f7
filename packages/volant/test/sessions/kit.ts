/** A shop with a session, and browsers that ask it. */
import assert from 'node:assert/strict'
import type { App } from 'volant'
import {
  memorySessions,
  type SessionMiddleware,
  type SessionOptions,
  session,
  type SessionStore,
} from 'volant/session'
import { Kit } from '../kit.ts'

export const kit = new Kit()
export const key = 'k'.repeat(32)

export interface Data {
  user: string
  cart: number[]
  note: { text?: string | undefined }
}

/** A browser: it keeps the cookies that it is given. */
export class Browser {
  readonly cookies = new Map<string, string>()
  readonly #app: App

  constructor(app: App) {
    this.#app = app
  }

  get header(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  }

  async ask(url: string, method = 'GET', more: Record<string, string> = {}) {
    const cookie = this.header
    const reply = await this.#app.inject({
      method: method as 'GET',
      url,
      headers: { ...(cookie === '' ? {} : { cookie }), ...more },
    })
    for (const line of [reply.headers['set-cookie'] ?? []].flat()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line) as unknown as [string, string, string]
      if (/max-age=0/i.test(line)) this.cookies.delete(name)
      else this.cookies.set(name, value)
    }
    return reply
  }

  async text(url: string, method = 'GET'): Promise<string> {
    const reply = await this.ask(url, method)
    assert.equal(reply.status, 200, reply.text())
    return reply.text()
  }
}

export function shop(
  options: SessionOptions,
  more: (app: ReturnType<typeof behind>) => void = () => {},
): App {
  const app = kit.app()
  const scope = behind(app, session<Data>(options))
  scope.post('/sign-in/:user', (ctx) => {
    ctx.state.session.signIn({ user: ctx.params.user })
    return 'in'
  })
  scope.post('/sign-out', (ctx) => {
    ctx.state.session.signOut()
    return 'out'
  })
  scope.get('/user', (ctx) => ctx.state.session.get('user') ?? 'nobody')
  scope.get('/unused', () => 'unused')
  scope.get('/id', (ctx) => ctx.state.session.id)
  scope.get('/new', (ctx) => String(ctx.state.session.isNew))
  scope.post('/cart/:id', (ctx) => {
    ctx.state.session.set('cart', [...(ctx.state.session.get('cart') ?? []), Number(ctx.params.id)])
    return 'added'
  })
  scope.get('/cart', (ctx) => ctx.json(ctx.state.session.get('cart') ?? []))
  scope.post('/empty', (ctx) => {
    ctx.state.session.delete('cart')
    return 'empty'
  })
  more(scope)
  return app
}

function behind(app: App, sessions: SessionMiddleware<Data>) {
  return app.with(sessions)
}

export const kinds: readonly [string, () => SessionOptions][] = [
  ['sealed', () => ({ keys: [key] })],
  ['memory', () => ({ store: memorySessions() })],
]

/** A store whose answers a case decides. */
export function brittle(): SessionStore & { fault: (() => Promise<never>) | null; calls: string[] } {
  const real = memorySessions()
  const store = {
    fault: null as (() => Promise<never>) | null,
    calls: [] as string[],
    get: (id: string) => (store.calls.push('get'), store.fault?.() ?? real.get(id)),
    set: (id: string, record: Parameters<SessionStore['set']>[1]) => (
      store.calls.push('set'),
      store.fault?.() ?? real.set(id, record)
    ),
    touch: (id: string, ttl: number) => (store.calls.push('touch'), store.fault?.() ?? real.touch(id, ttl)),
    destroy: (id: string) => (store.calls.push('destroy'), store.fault?.() ?? real.destroy(id)),
  }
  return store
}
