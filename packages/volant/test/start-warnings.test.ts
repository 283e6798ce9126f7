import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  before,
  cors,
  createApp,
  HTTPError,
  middleware,
  type Scope,
  securityHeaders,
  validate,
} from '../src/index.ts'
import { bearer } from '../src/auth/index.ts'
import { procedure, rest, router } from '../src/procedures/index.ts'
import { trpc } from '../src/procedures/trpc/index.ts'
import { rateLimit } from '../src/rate-limit/index.ts'
import { stderrOf } from './stderr.ts'

const guard = middleware((_, next) => next())

/** Gives what listening writes to stderr. */
async function said(define: (app: ReturnType<typeof createApp>) => void): Promise<string> {
  const app = createApp({ adapter: { type: 'node-http' }, signals: false })
  define(app)
  try {
    return await stderrOf(() => app.listen(0, '127.0.0.1'))
  } finally {
    await app.close()
  }
}

test('a scope of with() without routes is told of at start', async () => {
  const text = await said((app) => {
    app.with(guard)
    app.get('/secret', () => 'open')
  })
  assert.match(text, /^volant: a scope made by with\(\) has no routes: .*\n$/)
})

test('one with routes, directly or inside, is not', async () => {
  const text = await said((app) => {
    app.with(guard).get('/a', () => 1)
    app.with(guard).group('/g', (group) => group.get('/b', () => 1))
    app
      .with(guard)
      .with(guard)
      .get('/c', () => 1)
    app.with(guard).register((scope: Scope) => void scope.get('/d', () => 1))
    app.with(guard).mount('/m', createApp({ signals: false }))
  })
  assert.equal(text, '')
})

const large = { maxBodySize: 5_000_000 }
const declared = before({ errors: { UNAUTHORIZED: { status: 401 } } }, () => {})
const protectedBook = procedure()
  .use(bearer({ token: 'secret' }))
  .mutation(() => 1)
const secured = middleware({ security: [{ bearer: { type: 'http', scheme: 'bearer' } }] }, (_, next) =>
  next(),
)
const plain = (): never => {
  throw new HTTPError(401)
}

test('a large body that is read before the check of who sends it is told of at start', async () => {
  const defines: [string, (app: ReturnType<typeof createApp>) => void][] = [
    ['with', (app) => app.with(middleware(plain)).put('/covers/:id', large, () => 1)],
    ['before', (app) => app.with(before(plain)).put('/covers/:id', large, () => 1)],
    ['the route', (app) => app.put('/covers/:id', large, plain, () => 1)],
    ['group', (app) => app.group('/covers', (scope) => scope.use(plain).put('/:id', large, () => 1))],
    ['use with a path', (app) => app.use('/covers', plain).put('/covers/:id', large, () => 1)],
    ['use, with errors', (app) => app.use(declared).put('/covers/:id', large, () => 1)],
    ['use, with a rate limit', (app) => app.use(rateLimit({ max: 5 })).put('/covers/:id', large, () => 1)],
    ['use, with security', (app) => app.use(secured).put('/covers/:id', large, () => 1)],
  ]
  for (const [name, define] of defines) {
    const text = await said((app) => void define(app))
    assert.match(text, /^volant: PUT \/covers\/:id \(5000000 bytes\): .*beforeBody.*\n$/, name)
  }
})

test('one that no check follows, that is streamed, has beforeBody or is as large as any is not', async () => {
  const text = await said((app) => {
    app.use((_, next) => next())
    app.use(cors(), securityHeaders())
    app.use(before({ errors: { GONE: { status: 410 } }, security: {} }, () => {}))
    app.use('/admin', plain)
    app.put('/open', large, () => 1)
    app.put('/checked', large, validate({ query: { type: 'object' } }), () => 1)
    const members = app.with(declared)
    members.put('/streamed', { ...large, bodyMode: 'stream' }, () => 1)
    members.put('/before', { ...large, beforeBody: () => {} }, () => 1)
    members.put('/smaller', { maxBodySize: 1_000 }, () => 1)
    members.put('/usual', () => 1)
  })
  assert.equal(text, '')
})

test('an authentication comes before the body, and what stands in its way is told of', async () => {
  const schema = { type: 'object' } as const
  const auth = bearer({ token: 'secret' })
  const quiet = await said((app) => {
    app.with(auth).put('/scope', large, () => 1)
    app.put('/own', large, plain, auth, () => 1)
    app.with(auth).put('/validated', validate({ body: schema }), () => 1)
    app.with(validate({ body: schema })).put('/open', () => 1)
    app.with(auth).register(rest(router({ books: router({ createBook: protectedBook }) })))
  })
  assert.equal(quiet, '')
  const text = await said((app) => {
    app
      .with(validate({ body: schema }))
      .with(auth)
      .put('/scope', () => 1)
    app.put('/own', validate({ body: schema }), auth, () => 1)
  })
  assert.match(
    text,
    /^volant: PUT \/scope, PUT \/own: middleware that reads the body, .* stands in front of the authentication.*\n$/,
  )
})

test('procedures with an authentication of their own are told of', async () => {
  const books = router({
    books: router({ createBook: protectedBook, listBooks: procedure().query(() => 1) }),
  })
  assert.match(
    await said((app) => void app.register(rest(books))),
    /^volant: POST \/books: procedures have an authentication of their own.*required: false.*\n$/,
  )
  assert.match(
    await said((app) => void app.register(trpc(books))),
    /^volant: POST \/trpc\/books\.createBook: proc.*\n$/,
  )
})

test('of many such routes the first five are named', async () => {
  const text = await said((app) => {
    const members = app.with(declared)
    for (let at = 1; at < 8; at++) members.put(`/files/${at}`, large, () => 1)
  })
  assert.match(text, /PUT \/files\/5 \(5000000 bytes\) and 2 more: the body/)
})
