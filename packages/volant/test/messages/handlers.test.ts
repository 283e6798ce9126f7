import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { before, type Context, health, openapi } from 'volant'
import { debug } from 'volant/debug'
import { cspReport } from 'volant/middleware'
import { Kit } from '../kit.ts'

const kit = new Kit()

describe('messages', () => {
  const handlers: [RegExp, () => unknown][] = [
    [
      /^a plugin takes \(scope, options\), not 3 parameters: one that has to wait is async, and has no done\(\)$/,
      () => kit.app().register(((_: unknown, _options: unknown, done: () => void) => done()) as never),
    ],
    [
      /^with\(\) takes one middleware, and the others would not run: write \.with\(a\)\.with\(b\)$/,
      () => kit.app().with(...([() => 1, () => 2] as unknown as [() => number])),
    ],
    [
      /^cspReport is not a middleware by itself: write app\.register\(cspReport\)$/,
      () => kit.app().use(cspReport as never),
    ],
    [/^debug is not a middleware by itself: write app\.register/, () => kit.app().use(debug as never)],
    [
      /^cspReport is a plugin, and was called without a scope: write app\.register\(cspReport\)$/,
      () => cspReport(undefined as never),
    ],
    [/^debug is a plugin, and was called/, () => debug({ prefix: '/ops' } as never)],
    [/^health is a plugin, and was called/, () => health(undefined as never)],
    [
      /^openapi is a plugin, .*: write app\.register\(openapi, { info/,
      () => openapi({} as never, {} as never),
    ],
    [/^before takes a function, not an object$/, () => before({ errors: {} } as never)],
    [/^the handler of \/x is not a function but undefined$/, () => kit.app().get('/x', undefined as never)],
    [
      /^middleware 1 of \/x is not a function but an empty array: give each by itself$/,
      () => kit.app().get('/x', [] as never, () => 1),
    ],
  ]

  for (const [message, run] of handlers) {
    test(`handlers: ${message.source}`, () => assert.throws(run, { code: 'E_BAD_HANDLER', message }))
  }

  test('before is given a function that has no next', () => {
    assert.throws(() => before(((_: Context, next: () => unknown) => next()) as never), {
      code: 'E_BAD_HANDLER',
      message:
        /^before takes a function \(ctx\), .*: for \(ctx, next\) write middleware\(…\), or leave before out$/,
    })
  })

  const circle: Record<string, unknown> = { list: [1] }

  circle['self'] = { 'a b': [{ circle }] }

  let deep: unknown[] = []

  for (let level = 0; level < 50_000; level++) deep = [deep]

  test('a route that all() or on() registers a second time says so', () => {
    const app = kit.app()
    app.get('/x', () => 1)
    assert.throws(() => app.all('/x', () => 1), /comes from all\(\), which registers GET, too/)
    assert.throws(() => app.on(['POST', 'GET'], '/x', () => 1), /comes from on\(\)/)
    assert.throws(() => app.on(['GET'], '/x', () => 1), /same paths\. Remove/)
  })
})
