/** Functions of other frameworks are refused by name when they are registered. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compress, decompress } from '../src/compression/index.ts'
import { before, createApp, middleware, type VolantError } from '../src/index.ts'
import { rateLimit } from '../src/rate-limit/index.ts'

const here = 'here a handler takes (ctx) and middleware (ctx, next)'
const express =
  "fromConnect(…) of 'volant/connect' runs it as it is, and docs/migrate/express.md has the counterparts"

const inApp = express.replace(
  ', and ',
  '; if it uses res.json, res.send or the like, put it into an Express app and give it that. ',
)

/** Gives what registering `value` says, as middleware of the app and as the handler of a route. */
function said(value: unknown): [used: string, handler: string] {
  const app = createApp({ signals: false })
  const given = value as never
  const message = (run: () => unknown): string => {
    try {
      run()
    } catch (error) {
      assert.equal((error as VolantError).code, 'E_BAD_HANDLER')
      return (error as VolantError).message
    }
    return 'nothing'
  }
  const used = message(() => app.use(given))
  assert.equal(
    message(() => app.use('/x', given)),
    used,
  )
  assert.equal(
    message(() => app.with(given)),
    used,
  )
  assert.equal(
    message(() => app.group('/g', (group) => group.use(given))),
    used,
  )
  for (const run of [() => app.get('/a', given, () => 1), () => middleware(given), () => before(given)]) {
    assert.equal(message(run).replace(/^.*? (takes|is) /, '$1 '), used.replace(/^.*? (takes|is) /, '$1 '))
  }
  return [used, message(() => app.get('/b/:id', given))]
}

test('middleware, error handlers and handlers of Express', () => {
  const three = (req: unknown, res: { end(): void }, next: () => void) => (req ? next() : res.end())
  assert.deepEqual(said(three), [
    `middleware takes (req, res, next), as middleware of Express do: ${here}. ${express}`,
    `the handler of /b/:id takes (req, res, next), as middleware of Express do: ${here}. ${express}`,
  ])
  // oxlint-disable-next-line max-params -- that many are what is looked for
  function four(err: Error, req: unknown, res: unknown, next: unknown): void {
    void [err, req, res, next]
  }
  assert.equal(
    said(four)[0],
    `middleware takes (err, req, res, next), as error handlers of Express do: write onError((error, ctx) => …). ${express}`,
  )
  assert.equal(
    said(async (req: unknown, res: { json(value: unknown): void }) => res.json(req))[1],
    `the handler of /b/:id takes (req, res), as handlers of Express do: ${here}. ${inApp}`,
  )
  for (const two of [
    function named(_req: unknown, response: unknown): unknown {
      return response
    },
    (request: unknown, res: unknown = request) => res,
    {
      method(_: unknown, res: unknown): unknown {
        return res
      },
    }.method,
  ]) {
    assert.match(
      said(two)[1],
      /^the handler of \/b\/:id takes \(\w+, \w+\), as handlers of Express do|^nothing$/,
    )
  }
  assert.match(said(three.bind(null))[0], /^middleware takes 3 parameters, as middleware of Express do/)
  assert.throws(() => createApp({ signals: false }).onError(four as never), {
    code: 'E_BAD_HANDLER',
    message: /^onError takes \(err, req, res, next\)/,
  })
})

test('apps and routers of Express, hooks and handlers of Fastify', () => {
  const app = Object.assign((_req: unknown, _res: unknown, _next: unknown) => {}, { handle() {}, set() {} })
  const router = Object.assign((...args: unknown[]) => args, { handle() {}, stack: [] })
  for (const each of [app, router])
    assert.equal(
      said(each)[0],
      `middleware is an app or router of Express: ${here}. ${each === app ? express : inApp}`,
    )
  assert.equal(
    said(async (request: unknown, reply: unknown) => [request, reply])[1],
    `the handler of /b/:id takes (request, reply), as hooks and handlers of Fastify do: ${here}. docs/migrate/fastify.md has the counterparts`,
  )
})

test('plugins of Fastify and what makes a middleware are refused by register', () => {
  const plugin = Object.assign(async () => {}, {
    [Symbol.for('skip-override')]: true,
    [Symbol.for('fastify.display-name')]: '@fastify/static',
  })
  const unnamed = Object.assign((_app: unknown, _options: unknown, done: () => void) => done(), {
    [Symbol.for('skip-override')]: true,
  })
  const docs =
    'a plugin of Fastify, which needs the instance of Fastify. docs/migrate/fastify.md has the counterparts'
  for (const [given, message] of [
    [plugin, `register was given @fastify/static, ${docs}`],
    [unnamed, `register was given a function, ${docs}`],
    [compress, 'compress is not a plugin: write app.use(compress())'],
    [rateLimit, 'rateLimit is not a plugin: write app.use(rateLimit({ max: 100 }))'],
  ] as const) {
    const app = createApp({ signals: false })
    assert.throws(() => app.register(given as never, { max: 1 }), { code: 'E_BAD_HANDLER', message })
  }
})

test('options of routes in other packages are named', () => {
  const app = createApp({ signals: false })
  for (const [options, message] of [
    [
      { config: { rateLimit: { max: 5 } } },
      /has no option "config": a limit or another middleware of this route/,
    ],
    [{ rateLimit: { max: 5 } }, /has no option "rateLimit": write rateLimit\(\{ max \}\)/],
    [{ attachFieldsToBody: true }, /has no option "attachFieldsToBody": write consumes/],
    [{ limits: { fileSize: 1 } }, /has no option "limits": write the limits themselves: maxBodySize/],
  ] as const) {
    assert.throws(() => app.post('/x', options as never, () => 1), { code: 'E_BAD_OPTION', message })
  }
  assert.throws(() => decompress({ limit: '1mb' } as never), {
    message: /has no option "limit": maxBodySize/,
  })
})

test('what is meant for this framework is taken', async () => {
  const app = createApp({ signals: false })
  app.use((_ctx, next) => next())
  app.use(async (_context, go) => await go())
  app.use((_, next) => next())
  app.use(function layer(...args: [unknown, () => Promise<void>]) {
    return args[1]()
  })
  app.use(middleware((response, next) => (response.replied ? undefined : next())))
  app.get('/x', (_ctx, ...rest: unknown[]) => `${rest.length}`)
  app.onError((error, ctx) => ctx.text(String(error)))
  assert.equal((await app.inject('/x')).text(), '0')
})
