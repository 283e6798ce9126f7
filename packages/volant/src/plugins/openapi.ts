/** The document of an app over HTTP: made when it is first asked for, kept, and sent again only when it changed. */
import { createHash } from 'node:crypto'
import { checkConditions } from '../reply/conditional.ts'
import type { RequestContext } from '../types/context.ts'
import { refusal } from '../errors/errors.ts'
import { Exposed } from '../app/expose.ts'
import { bad } from '../options/bad-option.ts'
import {
  checkOptions,
  documented,
  emission,
  type OpenAPIOptions,
  optionNames,
  schemesOf,
} from '../openapi/document.ts'
import { Omissions } from '../openapi/warnings.ts'
import { servePage } from '../openapi/page.ts'
import { inSlices, jsonOf, yamlOf } from '../openapi/publish.ts'
import { infosOf, type RouteInfo, routesOf } from '../app/route-info.ts'
import { rootOf, type Scope } from '../app/scope.ts'

/** Options of `openapi`. */
export interface OpenAPIPluginOptions extends OpenAPIOptions {
  /** Path of the document without `.json` and `.yaml`; default `/openapi`. */
  path?: string | undefined
  /** Path of the page that shows the document; default `/docs`, false for none. */
  page?: string | false | undefined
}

/**
 * A plugin: `app.register(openapi, { info: { title: 'Users', version: '1.0.0' } })`.
 *
 * `/openapi.json` and `/openapi.yaml` are the OpenAPI 3.1 document of all routes of the app, whenever they are
 * registered and mounted apps included; registered in a group, of the routes under its prefix. A schema that has no
 * JSON Schema is named on stderr once the app listens, or when the document is first made: it checks requests and
 * replies all the same, and the document says nothing of it. `/docs` is a page that shows the document and tries its operations out, made of the files of
 * @volant/reference-page: it loads nothing from elsewhere. Throws `E_BAD_OPTION` for options that make no sense; the app does not start with two security
 * schemes of one name, or where security asks for one that nobody declares.
 */
export function openapi(scope: Scope<any>, options: OpenAPIPluginOptions): void {
  checkOptions('openapi', options, [...optionNames, 'path', 'page'])
  const { path = '/openapi', page = '/docs' } = options
  checkPath('openapi.path', path, '/openapi')
  if (page !== false) checkPath('openapi.page', page, '/docs')
  const { registry } = rootOf(scope)
  const omissions = new Omissions()
  const documents = new Documents(options, omissions)
  const json = `${path}.json`
  const yaml = `${path}.yaml`
  scope.get(json, { hidden: true }, async (ctx) => {
    const published = await documents.of(ctx as RequestContext, json)
    send(ctx as RequestContext, await published.json(), 'application/json')
  })
  scope.get(yaml, { hidden: true }, async (ctx) => {
    const published = await documents.of(ctx as RequestContext, yaml)
    // RFC 9512 §2.1.
    send(ctx as RequestContext, await published.yaml(), 'application/yaml')
  })
  const prefix = (registry.routes.at(-1) as { pattern: string }).pattern.slice(0, -yaml.length)
  const all = (): RouteInfo[] => routesOf(registry.routes, new Exposed())
  const own = (): RouteInfo[] => documented(under(prefix, all()), options)
  scope.onStart(() => {
    // What an app is mounted in may declare schemes for it: they are known when the document is made.
    if (!registry.isMounted) schemesOf(own(), options, all())
  })
  scope.onReady(() => omissions.find(own()))
  if (page === false) return
  servePage(scope, { path: page, document: json, title: options.info.title, servers: options.servers ?? [] })
}

function checkPath(name: string, path: unknown, such: string): void {
  if (typeof path !== 'string' || !/^\/.*[^/]$/.test(path)) throw bad(name, path, `a path such as ${such}`)
}

function under(prefix: string, routes: readonly RouteInfo[]): RouteInfo[] {
  return routes.filter(({ path }) => path === prefix || path.startsWith(`${prefix}/`))
}

/** By the app that serves it: the app it was registered in may be mounted in several. Who asks for one that is being made waits for it. */
class Documents {
  readonly #options: OpenAPIPluginOptions
  readonly #omissions: Omissions
  /** An app that is changed after an `inject` has another core. */
  readonly #known = new WeakMap<object, Map<string, Promise<Published>>>()

  constructor(options: OpenAPIPluginOptions, omissions: Omissions) {
    this.#options = options
    this.#omissions = omissions
  }

  /** `path` is the route's in its scope: what the whole pattern has before it is the prefix of that scope. */
  of(ctx: RequestContext, path: string): Promise<Published> {
    const prefix = (ctx.pattern as string).slice(0, -path.length)
    const known = this.#known.get(ctx.app) ?? new Map<string, Promise<Published>>()
    this.#known.set(ctx.app, known)
    let published = known.get(prefix)
    if (published === undefined) {
      published = inSlices(this.#publish(ctx, prefix))
      known.set(prefix, published)
      // The next request may find the reason gone.
      published.catch(() => known.delete(prefix))
    }
    return published
  }

  *#publish(ctx: RequestContext, prefix: string): Generator<void, Published> {
    const { registry } = rootOf(ctx.app.serving as unknown as Scope<any>)
    const all: RouteInfo[] = []
    for (const route of infosOf(registry.routes, registry.exposed)) {
      all.push(route)
      yield
    }
    const own = under(prefix, all)
    const { document, undescribed, partlyDescribed, remarks } = yield* emission(own, this.#options, all)
    for (const each of undescribed) this.#omissions.schema(each)
    this.#omissions.parts(partlyDescribed)
    for (const each of remarks) this.#omissions.say(each)
    for (const route of documented(own, this.#options)) {
      this.#omissions.texts(route)
      yield
    }
    return new Published(document)
  }
}

/** One document as text, and what changes with it. */
class Published {
  readonly #document: object
  readonly #modified = Math.floor(Date.now() / 1_000) * 1_000
  #json: Promise<Text> | null = null
  #yaml: Promise<Text> | null = null

  constructor(document: object) {
    this.#document = document
  }

  json(): Promise<Text> {
    return (this.#json ??= this.#text(jsonOf(this.#document)))
  }

  yaml(): Promise<Text> {
    return (this.#yaml ??= this.#toYAML())
  }

  /** Loaded when somebody asks for it: most apps never do. */
  async #toYAML(): Promise<Text> {
    const { stringify } = await import('yaml')
    return this.#text(yamlOf(this.#document, stringify))
  }

  async #text(steps: Generator<void, string>): Promise<Text> {
    return textOf(await inSlices(steps), this.#modified)
  }
}

interface Text {
  readonly text: string
  readonly etag: string
  /** Milliseconds, whole seconds of them. */
  readonly modified: number
}

function textOf(text: string, modified: number): Text {
  return { text, etag: `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`, modified }
}

function send(ctx: RequestContext, { text, etag, modified }: Text, type: string): void {
  ctx.header('cache-control', 'no-cache').header('etag', etag)
  ctx.header('last-modified', new Date(modified).toUTCString())
  const verdict = checkConditions(ctx.exchange, { etag, modified })
  if (verdict === 'failed') throw refusal('E_PRECONDITION')
  if (verdict === 'unchanged') return void ctx.reply(304)
  ctx.header('content-type', `${type}; charset=utf-8`).text(text)
}
