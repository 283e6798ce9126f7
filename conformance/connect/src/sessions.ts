/** A store of sessions that answers later, and ids that do not differ from run to run. */
import { setImmediate as turn } from 'node:timers/promises'
import { type Handle, session } from './layers.ts'

type Done = (error?: unknown, value?: unknown) => void

export class SlowStore extends session.Store {
  readonly kept = new Map<string, string>()
  /** The calls, by name, in their order. */
  readonly calls: string[] = []
  /** The names of the calls that fail. */
  failing = new Set<string>()

  get(id: string, done: Done): void {
    this.#later('get', done, () => {
      const text = this.kept.get(id)
      return text === undefined ? null : (JSON.parse(text) as unknown)
    })
  }

  set(id: string, value: unknown, done: Done): void {
    const text = JSON.stringify(value)
    this.#later('set', done, () => void this.kept.set(id, text))
  }

  touch(id: string, value: unknown, done: Done): void {
    this.#later('touch', done, () => void this.kept.set(id, JSON.stringify(value)))
  }

  destroy(id: string, done: Done): void {
    this.#later('destroy', done, () => void this.kept.delete(id))
  }

  /** What the sessions hold without their cookies. */
  contents(): unknown[] {
    return [...this.kept].map(([id, text]) => {
      const { cookie: _, ...rest } = JSON.parse(text) as Record<string, unknown>
      return [id, rest]
    })
  }

  #later(name: string, done: Done, run: () => unknown): void {
    this.calls.push(name)
    void (async () => {
      for (let at = 0; at < 5; at++) await turn()
      if (this.failing.has(name)) return new Error(`the store cannot ${name}`)
      return run()
    })().then((value) => (value instanceof Error ? done?.(value) : done?.(null, value)))
  }
}

/** The session middleware on a store of its own. */
export function sessions(options: object = {}): { layer: Handle; store: SlowStore } {
  const store = new SlowStore()
  let made = 0
  const genid = (): string => `session-${++made}`
  const layer = session({
    secret: 'keyboard cat',
    resave: false,
    saveUninitialized: false,
    store,
    genid,
    ...options,
  })
  return { layer, store }
}

/** A client that keeps cookies as a browser does. */
export class Jar {
  readonly #kept = new Map<string, string>()

  take(cookies: string[]): void {
    for (const each of cookies) {
      const [pair = '', ...attributes] = each.split('; ')
      const at = pair.indexOf('=')
      const gone = attributes.some((one) => one === 'Expires=Thu, 01 Jan 1970 00:00:00 GMT')
      if (gone) this.#kept.delete(pair.slice(0, at))
      else this.#kept.set(pair.slice(0, at), pair.slice(at + 1))
    }
  }

  /** The request header. */
  get headers(): { cookie?: string } {
    if (this.#kept.size === 0) return {}
    return { cookie: [...this.#kept].map(([name, value]) => `${name}=${value}`).join('; ') }
  }
}
