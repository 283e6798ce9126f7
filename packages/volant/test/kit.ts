/**
 * What a case about the framework is written with: an app without a socket, asked through `app.inject`, and through
 * `fetch` at an origin of its own. How the same features do over a socket is in `conformance/adapters`.
 */
import { type App, type AppOptions, createApp, type InjectReply } from '../src/index.ts'

export { deferred, eventually, stderrLines, unchanging, within } from '@volant/test-kit'

export interface Ask {
  method?: string
  headers?: Record<string, string>
  body?: string | Uint8Array
}

export interface Reply {
  status: number
  statusText: string
  /** By lower-case name; a repeated name is joined with ', '. */
  headers: Record<string, string>
  /** The values of Set-Cookie. */
  setCookies: string[]
  body: Buffer
  text: string
  json(): unknown
}

export class Kit {
  /** Errors the apps of this kit reported, newest last. */
  readonly reports: unknown[] = []

  app(options: AppOptions = {}): App {
    return createApp({
      adapter: { type: 'node-http' },
      signals: false,
      errorDetails: false,
      report: (error) => void this.reports.push(error),
      ...options,
    })
  }

  /** Has `app` answer while `run` runs, and closes it after. */
  async serve(app: App, run: (live: Live) => Promise<void>): Promise<void> {
    const live = new Live(app)
    try {
      await app.ready()
      await run(live)
    } finally {
      live.close()
      await app.close()
    }
  }
}

/** Apps by the origin at which `fetch` finds them. */
const apps = new Map<string, App>()
let served = 0

const { fetch: overSockets } = globalThis
globalThis.fetch = (input, init) => {
  const request = new Request(input, init)
  return apps.get(new URL(request.url).origin)?.fetch(request) ?? overSockets(input, init)
}

export class Live {
  readonly app: App
  /** Of the app, for a client that calls `fetch`. */
  readonly address: { readonly url: string }

  constructor(app: App) {
    this.app = app
    this.address = { url: `http://app-${++served}.test` }
    apps.set(this.address.url, app)
  }

  async ask(path: string, { method = 'GET', headers = {}, body }: Ask = {}): Promise<Reply> {
    if (headers['transfer-encoding'] !== undefined)
      throw new Error('give a stream through app.inject instead')
    return replyOf(await this.app.inject({ method, url: path, headers, body }))
  }

  post(
    path: string,
    type: string | null,
    body: string | Uint8Array,
    more: Record<string, string> = {},
  ): Promise<Reply> {
    return this.ask(path, {
      method: 'POST',
      headers: type === null ? more : { 'content-type': type, ...more },
      body,
    })
  }

  close(): void {
    apps.delete(this.address.url)
  }
}

function replyOf(reply: InjectReply): Reply {
  const { status, statusText, body } = reply
  const { 'set-cookie': setCookies = [], ...headers } = reply.headers
  if (setCookies.length > 0) headers['set-cookie'] = setCookies.join(', ')
  return { status, statusText, headers, setCookies, body, text: reply.text(), json: () => reply.json() }
}
