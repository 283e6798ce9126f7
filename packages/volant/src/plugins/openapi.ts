/** Serves the document of an app: it is made when it is first requested, kept, and sent again only after a change. */
import { createHash } from 'node:crypto'
import { Exposed } from '../app/expose.ts'
import { infosOf, type RouteInfo, routesOf } from '../app/route-info.ts'
import { prefixOf, rootOf, type Scope } from '../app/scope.ts'
import { checkScope } from '../dispatch/declare.ts'
import { refusal } from '../errors/errors.ts'
import { type BuiltAsyncAPI, buildAsyncAPI, describedSockets } from '../openapi/asyncapi.ts'
import { type BuiltDocument, buildDocument, documentedRoutes } from '../openapi/document.ts'
import { checkOptions, type OpenAPIOptions, optionNames } from '../openapi/options.ts'
import { servePage } from '../openapi/page.ts'
import { inSlices, jsonOf, yamlOf } from '../openapi/publish.ts'
import { schemesOf } from '../openapi/security.ts'
import { DocumentWarnings } from '../openapi/warnings.ts'
import { checkText } from '../options/checks.ts'
import { checkConditions } from '../reply/conditional.ts'
import { madeOnce } from '../schema/made-once.ts'
import type { RequestContext } from '../types/request.ts'

/** The options of `openapi`. */
export interface OpenAPIPluginOptions extends OpenAPIOptions {
  /** The path of the document without `.json` and `.yaml`; default `/openapi`. */
  path?: string | undefined
  /** The path of the page that shows the document; default `/docs`, false for none. */
  page?: string | false | undefined
  /**
   * The path of the AsyncAPI 3.0 document of the WebSockets without `.json` and `.yaml`; default `/asyncapi`, false for
   * none. An app without WebSockets answers it with 404.
   */
  asyncapi?: string | false | undefined
}

/**
 * A plugin: `app.register(openapi, { info: { title: 'Users', version: '1.0.0' } })`.
 *
 * It serves the OpenAPI 3.1 document of the app as `/openapi.json` and `/openapi.yaml`. The document has all routes,
 * those of mounted apps and those registered later, too; registered in a group, the plugin serves the document of the
 * routes under its prefix. The messages of WebSockets are described by an AsyncAPI 3.0 document, `/asyncapi.json` and
 * `/asyncapi.yaml`. `/docs` is a page that shows the document and tries its operations out. Its files are those of
 * @volant/reference-page: it loads nothing from elsewhere.
 *
 * A schema without JSON Schema still checks requests and replies, but the document cannot show it: stderr names it when
 * the app listens, or when the document is first made. Throws `E_BAD_OPTION` for options that make no sense. The app does
 * not start with two security schemes of one name, nor with a requirement of a scheme that nobody declares.
 */
export function openapi(scope: Scope<any>, options: OpenAPIPluginOptions): void {
  checkScope(openapi, scope)
  checkOptions('openapi', options, [...optionNames, 'path', 'page', 'asyncapi'])
  const { path = '/openapi', page = '/docs', asyncapi = '/asyncapi' } = options
  checkText('openapi.path', path, documentPath, 'a path such as /openapi')
  if (page !== false) checkText('openapi.page', page, documentPath, 'a path such as /docs')
  if (asyncapi !== false) checkText('openapi.asyncapi', asyncapi, documentPath, 'a path such as /asyncapi')
  const { registry } = rootOf(scope)
  const warnings = new DocumentWarnings()
  publish(
    scope,
    path,
    new Documents(
      warnings,
      function* (own, all, prefix) {
        const built = yield* buildDocument(own, options, all)
        if (asyncapi !== false && describedSockets(own, options).length > 0)
          built.document['x-asyncapi'] = `${prefix}${asyncapi}.json`
        return built
      },
      options,
    ),
  )
  if (asyncapi !== false) {
    const sockets = new Documents(warnings, (own, all) => buildAsyncAPI(own, options, all), options)
    publish(scope, asyncapi, sockets)
  }
  const all = (): RouteInfo[] => routesOf(registry.routes, new Exposed())
  const own = (): RouteInfo[] => documentedRoutes(under(prefixOf(scope), all()), options)
  scope.onStart(() => {
    // The app that this one is mounted in may declare schemes: they are known when the document is made.
    if (!registry.isMounted) schemesOf(own(), options, all())
  })
  scope.onReady(() => warnings.unconvertible(own()))
  if (page === false) return
  servePage(scope, {
    path: page,
    document: `${path}.json`,
    title: options.info.title,
    servers: options.servers ?? [],
  })
}

const documentPath = /^\/.*[^/]$/

/** Adds the routes of a document. */
function publish(scope: Scope<any>, path: string, documents: Documents): void {
  const json = `${path}.json`
  const yaml = `${path}.yaml`
  scope.get(json, { hidden: true }, async (ctx) => {
    const published = await documents.of(ctx as RequestContext, json)
    send(ctx as RequestContext, await published.json(), 'application/json')
  })
  scope.get(yaml, { hidden: true }, async (ctx) => {
    const published = await documents.of(ctx as RequestContext, yaml)
    // RFC 9512 §2.1 registers this type.
    send(ctx as RequestContext, await published.yaml(), 'application/yaml')
  })
}

/** Makes a document of the routes under a prefix; `all` may declare its security schemes. */
type Build = (
  own: readonly RouteInfo[],
  all: readonly RouteInfo[],
  prefix: string,
) => Generator<void, BuiltDocument | BuiltAsyncAPI>

function under(prefix: string, routes: readonly RouteInfo[]): RouteInfo[] {
  return routes.filter(({ path }) => path === prefix || path.startsWith(`${prefix}/`))
}

/** Each app that serves it has a document: an app with the plugin may be mounted in several. */
class Documents {
  readonly #options: OpenAPIPluginOptions
  readonly #warnings: DocumentWarnings
  readonly #build: Build
  /** The documents by compiled app, which is another one after a change, then by prefix. */
  readonly #known = new WeakMap<object, Map<string, Promise<PublishedDocument>>>()

  constructor(warnings: DocumentWarnings, build: Build, options: OpenAPIPluginOptions) {
    this.#warnings = warnings
    this.#build = build
    this.#options = options
  }

  /** `path` is the path of the route in its scope: the rest of the pattern is the prefix, where it is mounted as well. */
  of(ctx: RequestContext, path: string): Promise<PublishedDocument> {
    const prefix = (ctx.pattern as string).slice(0, -path.length)
    const known = madeOnce(this.#known, ctx.app, () => new Map<string, Promise<PublishedDocument>>())
    return madeOnce(known, prefix, () => {
      const published = inSlices(this.#publish(ctx, prefix))
      // The next request tries again.
      published.catch(() => known.delete(prefix))
      return published
    })
  }

  *#publish(ctx: RequestContext, prefix: string): Generator<void, PublishedDocument> {
    const { registry } = rootOf(ctx.app.serving as unknown as Scope<any>)
    const all: RouteInfo[] = []
    for (const route of infosOf(registry.routes, registry.exposed)) {
      all.push(route)
      yield
    }
    const own = under(prefix, all)
    const built = yield* this.#build(own, all, prefix)
    if ('channels' in built.document && Object.keys(built.document.channels).length === 0)
      throw refusal('E_NOT_FOUND')
    this.#warnings.print(built)
    for (const route of documentedRoutes(own, this.#options)) {
      this.#warnings.textless(route)
      yield
    }
    return new PublishedDocument(built.document)
  }
}

/** A document as JSON and as YAML: each is written when it is first requested. */
class PublishedDocument {
  readonly #document: object
  readonly #modified = Math.floor(Date.now() / 1_000) * 1_000
  #json: Promise<Representation> | null = null
  #yaml: Promise<Representation> | null = null

  constructor(document: object) {
    this.#document = document
  }

  json(): Promise<Representation> {
    return (this.#json ??= this.#written(jsonOf(this.#document)))
  }

  yaml(): Promise<Representation> {
    // The package is loaded when it is needed: most apps never do.
    return (this.#yaml ??= import('yaml').then(({ stringify }) =>
      this.#written(yamlOf(this.#document, stringify)),
    ))
  }

  async #written(steps: Generator<void, string>): Promise<Representation> {
    const text = await inSlices(steps)
    const hash = createHash('sha256').update(text).digest('base64url').slice(0, 22)
    return { text, etag: `"${hash}"`, modified: this.#modified }
  }
}

interface Representation {
  readonly text: string
  readonly etag: string
  /** The time in milliseconds, in whole seconds. */
  readonly modified: number
}

function send(ctx: RequestContext, { text, etag, modified }: Representation, type: string): void {
  ctx.header('cache-control', 'no-cache').header('etag', etag)
  ctx.header('last-modified', new Date(modified).toUTCString())
  const verdict = checkConditions(ctx.exchange, { etag, modified })
  if (verdict === 'failed') throw refusal('E_PRECONDITION')
  if (verdict === 'unchanged') return void ctx.reply(304)
  ctx.header('content-type', `${type}; charset=utf-8`).text(text)
}
