/** The app that every client asks, and the servers that it runs on. */
import { describe } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { deferred, eventually, idleLimits, thrownMessage, turns } from '@volant/test-kit'
import { type AdapterType, type App, type AppOptions, createApp, HTTPError } from 'volant'
import { Authority, type Identity, withoutOpenssl } from './certificates.ts'

/** How a client reaches the site: HTTP/1.1 or HTTP/2 over TLS, or HTTP/2 without TLS. */
export type Wire = 'https' | 'h2' | 'h2c'

/** The protocols that each adapter supports. */
const wires: Partial<Record<AdapterType, readonly Wire[]>> = {
  native: ['https', 'h2', 'h2c'],
  'node-http': ['https', 'h2', 'h2c'],
}

/** Runs the cases on each adapter that has TLS and HTTP/2. An adapter that cannot be loaded here is skipped by name. */
export function onEach(what: string, missing: string | false, cases: (place: Place) => void): void {
  for (const adapter of Object.keys(wires) as AdapterType[]) {
    const skip = missing || withoutOpenssl || unloadable(adapter)
    describe(`${what}, ${adapter}`, { skip }, () => {
      if (skip === false) cases(new Place(adapter))
    })
  }
}

function unloadable(type: AdapterType): string | false {
  return thrownMessage(() => createApp({ adapter: { type }, signals: false })) ?? false
}

/** An adapter, and the authority that issues the certificates of its servers. */
export class Place {
  readonly adapter: AdapterType
  readonly authority = new Authority()
  readonly identity: Identity = this.authority.issue()

  constructor(adapter: AdapterType) {
    this.adapter = adapter
  }

  /** Gives the reason to skip a case over this protocol, or false. */
  lacks(wire: Wire): string | false {
    const name = { https: 'TLS', h2: 'HTTP/2 over TLS', h2c: 'HTTP/2 without TLS' }[wire]
    return !wires[this.adapter]?.includes(wire) && `${this.adapter} has no ${name}`
  }

  /** Serves a new site while `run` runs. `prepare` may add to it before it listens. */
  async serve(
    wire: Wire,
    run: (site: Site) => Promise<void>,
    prepare: (site: Site) => void = () => {},
  ): Promise<void> {
    const site = new Site(this, wire)
    prepare(site)
    try {
      await site.listen()
      await run(site)
    } finally {
      await site.app.close()
    }
  }
}

/** The body of the tests. Its length is not a multiple of a frame or a record. */
export const body = Buffer.alloc(1_048_576 + 7, 'every byte counts, 0123456789 ')

/** The number of parts of `/large`. Each is as long as `body`. */
export const largeParts = 24

export class Site {
  readonly app: App
  readonly place: Place
  readonly wire: Wire
  /** The body of the reply to `/count`. */
  readonly name: string
  url = ''
  /** The ids of requests for `/hang/:id`: those that have arrived, and those whose signal was aborted. */
  readonly waiting: string[] = []
  readonly left: string[] = []
  /** The number of requests for `/json` that were answered. */
  answered = 0
  /** The number of requests for `/count` that have arrived. */
  counted = 0
  readonly #parts = new Map<string, () => void>()

  constructor(
    place: Place,
    wire: Wire,
    { name = 'one', options = {} }: { name?: string; options?: AppOptions } = {},
  ) {
    this.place = place
    this.wire = wire
    this.name = name
    this.app = createApp({
      adapter: { type: place.adapter },
      signals: false,
      errorDetails: false,
      report: () => {},
      ...options,
      limits: { drainIdle: 0, ...options.limits, ...idleLimits(place.adapter, options.limits) },
    })
    this.#addRoutes()
  }

  /** Listens at a free port, or at the given one, which several sites then share. */
  async listen(port?: number): Promise<void> {
    const { cert, key } = this.place.identity
    const at = { port: port ?? 0, host: '127.0.0.1', reusePort: port !== undefined }
    const { url } = await this.app.listen(
      this.wire === 'h2c' ? { ...at, http2: true } : { ...at, tls: { cert, key } },
    )
    this.url = url
  }

  #addRoutes(): void {
    const { app } = this
    app.get('/json', (ctx) => {
      this.answered++
      return { httpVersion: ctx.httpVersion, protocol: ctx.protocol, host: ctx.host }
    })
    app.post('/echo', { maxBodySize: 4_194_304 }, (ctx) => ctx.bodyBytes)
    app.post('/echo-stream', { bodyMode: 'stream', maxBodySize: 4_194_304 }, (ctx) =>
      ctx.stream(ctx.bodyStream, { type: 'application/octet-stream' }),
    )
    app.post('/small', { maxBodySize: 100 }, (ctx) => ({ bytes: ctx.bodyBytes.length }))
    app.get('/large', async function* (ctx) {
      ctx.header('content-type', 'application/octet-stream')
      for (let part = 0; part < largeParts; part++) {
        yield body
        await turn()
      }
    })
    app.get('/status/:code', (ctx) => {
      throw new HTTPError(Number(ctx.params.code))
    })
    // The second part is sent when the client reports that it has the first.
    app.get('/parts/:id', (ctx) => {
      const { promise, resolve } = deferred()
      this.#parts.set(ctx.params.id, resolve)
      return ctx.stream(
        (async function* () {
          yield 'first\n'
          await promise
          yield 'second\n'
        })(),
        { type: 'text/plain' },
      )
    })
    app.get('/parts/:id/next', (ctx) => {
      this.#parts.get(ctx.params.id)?.()
      return ctx.reply(204)
    })
    app.get('/hang/:id', async (ctx) => {
      const { id } = ctx.params
      this.waiting.push(id)
      await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve, { once: true }))
      this.left.push(id)
      return 'nobody reads this'
    })
    // The waits differ, so that some requests are in flight whenever a server closes.
    const count = async (): Promise<string> => {
      await turns(10 * (this.counted++ % 4))
      return this.name
    }
    app.get('/count', count)
    app.post('/count', count)
    app.get('/waits/:id', async (ctx) => {
      await eventually(() => this.waiting.includes(ctx.params.id), 'the handler of /hang runs')
      return ctx.reply(204)
    })
    app.post('/trailers', { bodyMode: 'stream' }, async function* (ctx) {
      yield* ctx.bodyStream
      ctx.trailer('x-sum', ctx.trailers['x-sum'] ?? 'none')
    })
    app.get('/hints', (ctx) => {
      ctx.earlyHints({ link: '</style.css>; rel=preload; as=style' })
      return 'the reply'
    })
  }
}
