import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createApp, csp, HTTPError, securityHeaders } from '../src/index.ts'
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
