import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createApp, csp, HTTPError, securityHeaders, type VolantError } from '../src/index.ts'
import { eventually } from './kit.ts'
import { mergeVary } from '../src/reply/header.ts'

test('a nonce is in the state of routes whose policy has one, and of no others', () => {
  const app = createApp({ signals: false })
  app.with(securityHeaders({ contentSecurityPolicy: { scriptSrc: ["'nonce'"] } })).get('/a', (ctx) => {
    const nonce: string = ctx.state.nonce
    return nonce
  })
  app.with(securityHeaders({ contentSecurityPolicy: csp({ scriptSrc: ["'nonce'"] }) })).get('/b', (ctx) => {
    const nonce: string = ctx.state.nonce
    return nonce
  })
  app
    .with(async (_, next) => next())
    .with(csp({ scriptSrc: ["'self'"] }))
    .get('/c', (ctx) => ctx.state['nonce'] as unknown)
  // @ts-expect-error a typed scope has what was declared
  app.with(csp({ styleSrc: ["'nonce'"] })).get('/d', (ctx) => ctx.state.user as unknown)
  assert.equal(app.routes().length, 4)
})

test('Vary is merged without repeating names', () => {
  const rows: [string, string, string][] = [
    ['Origin', 'Origin', 'Origin'],
    ['Origin', 'origin', 'Origin'],
    ['Origin', 'accept, ORIGIN', 'Origin, accept'],
    ['accept', '*', '*'],
    ['*', 'accept', '*'],
    ['a,, b', ' c ,', 'a, b, c'],
    ['__proto__', 'constructor', '__proto__, constructor'],
  ]
  for (const [before, more, merged] of rows) assert.equal(mergeVary(before, more), merged)
})

test('next() that a middleware calls after it failed is refused, and the handler does not run', async () => {
  const reports: unknown[] = []
  const app = createApp({ signals: false, report: (error) => void reports.push(error) })
  let late: (() => Promise<void>) | undefined
  app.use((_, next) => {
    late = next
    throw new HTTPError(503)
  })
  let runs = 0
  app.get('/', () => ++runs)
  assert.equal((await app.inject('/')).status, 503)
  await late?.()
  assert.deepEqual([reports.map((error) => (error as VolantError).code), runs], [['E_NEXT_LATE'], 0])
})

test('undefined that was thrown is an error like any other, also where a middleware catches it', async () => {
  const reports: unknown[] = []
  const app = createApp({ signals: false, report: (error) => void reports.push(error) })
  app.use(async (_, next) => {
    await next().catch(() => {})
  })
  app.get('/', () => Promise.reject<string>())
  assert.equal((await app.inject('/')).status, 500)
  assert.deepEqual(reports, [undefined])
})

test('a file that fails after an error was answered is reported', async () => {
  const reports: unknown[] = []
  const app = createApp({ signals: false, report: (error) => void reports.push(error) })
  app.onError((_, ctx) => void ctx.file('/does/not/exist'))
  app.get('/thrown', () => {
    throw new Error('x')
  })
  app.get('/map', () => new Map())
  for (const path of ['/thrown', '/map']) {
    reports.length = 0
    assert.equal((await app.inject(path)).status, 500)
    await eventually(() => reports.length > 1, 'the report of the file')
    assert.equal((reports[1] as HTTPError).code, 'E_NOT_FOUND')
  }
})
