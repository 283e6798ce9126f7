import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { before, cors, createApp, health, logger, metrics, securityHeaders, validate } from 'volant'
import { z } from 'zod'
import { Kit } from '../kit.ts'

const kit = new Kit()

describe('messages', () => {
  const options: [RegExp, () => unknown][] = [
    [
      /^createApp has no option "limit"; did you mean "limits"\? It has: adapter, limits, router, /,
      () => createApp({ limit: {} } as never),
    ],
    [/^createApp has no option "bodyLimit": write limits: /, () => createApp({ bodyLimit: 1 } as never)],
    [/"maxBodySize": it is one of the limits/, () => createApp({ maxBodySize: 1 } as never)],
    [/^createApp has no option "logger": write log: /, () => createApp({ logger: true } as never)],
    [/^createApp has no option "colour"\. It has: /, () => createApp({ colour: 1 } as never)],
    [
      /^createApp has no option "__proto__"\. It has: /,
      () => createApp(JSON.parse('{"__proto__":1}') as never),
    ],
    [/^write adapter: { type: "node-http" }$/, () => createApp({ adapter: 'node-http' } as never)],
    [/^adapter has no option "typ"; did/, () => createApp({ adapter: { type: 'native', typ: 1 } as never })],
    [
      /^router has no option "casesensitive"; did you mean "caseSensitive"\?/,
      () => createApp({ router: { casesensitive: true } as never }),
    ],
    [
      /^limits has no option "bodyLimit"; did you mean "maxBodySize"\?/,
      () => createApp({ limits: { bodyLimit: 1 } as never }),
    ],
    [
      /^trustProxy has no option "form"; did you mean "from"\?/,
      () => createApp({ trustProxy: { form: 1 } as never }),
    ],
    [
      /^the route \/x has no option "schema": schemas are options themselves: params, query/,
      () => kit.app().get('/x', { schema: {} } as never, () => 1),
    ],
    [
      /^the route \/x has no option "bodyLimit"; did you mean "maxBodySize"\?/,
      () => kit.app().get('/x', { bodyLimit: 1 } as never, () => 1),
    ],
    [
      /^the route \/x: bodyMode takes 'buffer' or 'stream', not "streamed"$/,
      () => kit.app().post('/x', { bodyMode: 'streamed' as never }, () => 1),
    ],
    [
      /^the route \/x: maxBodySize takes an integer from .*, not "1mb"$/,
      () => kit.app().post('/x', { maxBodySize: '1mb' as never }, () => 1),
    ],
    [
      /^the route \/x: maxQueryKeys takes an integer from .*, not -1$/,
      () => kit.app().get('/x', { maxQueryKeys: -1 }, () => 1),
    ],
    [
      /^the route \/x: handlerTimeout takes an integer from .*, not 0\.5$/,
      () => kit.app().get('/x', { handlerTimeout: 0.5 }, () => 1),
    ],
    [
      /^the route \/x: beforeBody takes a function, not an object$/,
      () => kit.app().post('/x', { beforeBody: {} as never }, () => 1),
    ],
    [
      /^the route \/x: errors\.X\.description takes a text, not 1$/,
      () => kit.app().get('/x', { errors: { X: { status: 400, description: 1 as never } } }, () => 1),
    ],
    [/^before takes a declaration before the function, not 5$/, () => before(5 as never, () => {})],
    [
      /^prefix takes a path such as \/api, which has all paths below it, without wildcard and optional parameters, not "\/api\/\*"$/,
      () => kit.app().use('/api/*', () => {}),
    ],
    [
      /^prefix takes a path such as \/api, and is left out where all paths are meant, not "\*"$/,
      () => kit.app().use('*', () => {}),
    ],
    [/^validate takes { body: schema }, not a schema itself$/, () => validate(z.object({}) as never)],
    [
      /^cors has no option "allowHeaders"; did you mean "allowedHeaders"\?/,
      () => cors({ allowHeaders: [] } as never),
    ],
    [
      /^securityHeaders has no option "hsts"; did you mean "strictTransportSecurity"\?/,
      () => securityHeaders({ hsts: {} } as never),
    ],
    [
      /^securityHeaders has no option "hidePoweredBy": no reply has this header\. It has: /,
      () => securityHeaders({ hidePoweredBy: true } as never),
    ],
    [
      /^csp has no option "directives": write the directives themselves\. It has: defaultSrc, /,
      () => securityHeaders({ contentSecurityPolicy: { directives: {} } as never }),
    ],
    [/^logger has no option "stream"; did you mean "destination"\?/, () => logger({ stream: 1 } as never)],
    [/^metrics has no option "bucket"; did/, () => metrics({ bucket: [] } as never)],
    [/^health has no option "check"; did/, () => kit.app().register(health, { check: {} } as never)],
  ]

  for (const [message, run] of options) {
    test(`options: ${message.source}`, () => assert.throws(run, { code: 'E_BAD_OPTION', message }))
  }

  const circle: Record<string, unknown> = { list: [1] }

  circle['self'] = { 'a b': [{ circle }] }

  let deep: unknown[] = []

  for (let level = 0; level < 50_000; level++) deep = [deep]
})
