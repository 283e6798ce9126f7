import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type App, createApp } from '../src/index.ts'
import { stderrOf } from './stderr.ts'

/** Gives what requests for these paths write to stderr. */
async function said(define: (app: App) => void, paths: readonly string[], method = 'GET'): Promise<string> {
  const app = createApp({ signals: false })
  define(app)
  return stderrOf(async () => {
    for (const url of paths) await app.inject({ url, method })
  })
}

const advice =
  'for an empty reply write return null or ctx.reply(204). This is said once for a route, and not in production.\n'

test('a handler that returned nothing is told of, once for its route', async () => {
  const value = { a: 1 }
  const text = await said(
    (app) => {
      app.get('/sync/:id', () => {
        value.a++
      })
      app.get(
        '/async',
        (_, next) => next(),
        async (ctx) => void ctx.header('x-a', '1'),
      )
    },
    ['/sync/1', '/sync/2', '/async', '/async'],
  )
  assert.equal(
    text,
    ['/sync/:id', '/async']
      .map(
        (path) =>
          `volant: the handler of GET ${path} returned nothing, so 204 was sent. Return the reply, and return or await what the handler starts; ${advice}`,
      )
      .join(''),
  )
})

test('what is assigned to ctx.body is told of', async () => {
  const text = await said(
    (app) => {
      app.get('/koa', (ctx) => {
        ctx.body = { a: 1 }
      })
    },
    ['/koa'],
  )
  assert.equal(
    text,
    `volant: the handler of GET /koa returned nothing, so 204 was sent. ctx.body is the body of the request, and what is assigned to it is not sent: return it; ${advice}`,
  )
})

test('an empty reply that is meant is not', async () => {
  const define = (app: App) => {
    app.get('/null', () => null)
    app.get('/status', (ctx) => void ctx.status(204))
    app.get('/chained', (ctx) => ctx.header('x-a', '1').status(204))
    app.get('/reply', (ctx) => ctx.reply(204))
    app.get('/declared', { response: { 204: null } }, () => {})
    app.get(
      '/middleware',
      (ctx) => ctx.text('mine'),
      () => {},
    )
    app.get('/replied', (ctx) => ctx.text('mine'))
    app.get('/file', (ctx) => void ctx.file('package.json'))
    app.get('/thrown', () => {
      throw new Error('x')
    })
    app.options('/head', () => {})
    app.head('/head', () => {})
    app.onNotFound(() => {})
  }
  const paths = ['null', 'status', 'chained', 'reply', 'declared', 'middleware', 'replied', 'file', 'none']
  assert.equal(
    await said(
      define,
      paths.map((path) => `/${path}`),
    ),
    '',
  )
  assert.match(await said(define, ['/thrown']), /^volant: GET \/thrown: Error: x/)
  for (const method of ['OPTIONS', 'HEAD']) assert.equal(await said(define, ['/head'], method), '')
})

test('in production nothing is said', async () => {
  const before = process.env['NODE_ENV']
  process.env['NODE_ENV'] = 'production'
  try {
    assert.equal(await said((app) => void app.get('/x', () => {}), ['/x']), '')
  } finally {
    if (before === undefined) delete process.env['NODE_ENV']
    else process.env['NODE_ENV'] = before
  }
})
