/** Procedures that are refused when they are made. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { middleware, VolantError } from 'volant'
import { caller, procedure, router, tracked } from 'volant/procedures'
import { Kit } from '../kit.ts'
import { Id } from './users.ts'

const kit = new Kit()

test('mistakes are refused when they are made', () => {
  const bad = (make: () => unknown, code: string, message: RegExp) =>
    assert.throws(make, (error: unknown) => {
      assert.ok(error instanceof VolantError, String(error))
      assert.equal(error.code, code)
      assert.match(error.message, message)
      return true
    })
  bad(() => procedure().input({} as never), 'E_BAD_SCHEMA', /input/)
  bad(
    () => kit.app().register(router({}) as never),
    'E_BAD_HANDLER',
    /^a plugin is not a function but an object: write app\.register\(rest\(api\)\) or app\.register\(trpc\(api\)\)$/,
  )
  bad(() => procedure().input(Id).input(Id), 'E_BAD_OPTION', /one input schema/)
  bad(() => procedure().use(7 as never), 'E_BAD_HANDLER', /middleware/)
  bad(() => procedure().use(middleware({ onResponse() {} }, (_, next) => next())), 'E_BAD_OPTION', /app.use/)
  bad(() => procedure().errors({ A: { status: 200 } }), 'E_BAD_STATUS', /A takes a status/)
  bad(() => procedure().meta({ title: 'x' } as never), 'E_BAD_OPTION', /title/)
  bad(() => procedure().rest({ path: 'x' }), 'E_BAD_OPTION', /rest.path/)
  bad(() => procedure().query(7 as never), 'E_BAD_HANDLER', /handler of a query/)
  bad(() => router({ call: procedure().query(() => 1) }), 'E_BAD_OPTION', /name/)
  bad(() => router({ 'a.b': procedure().query(() => 1) }), 'E_BAD_OPTION', /name/)
  bad(() => router({ ['__proto__']: procedure().query(() => 1) }), 'E_BAD_OPTION', /name/)
  // @ts-expect-error -- a procedure ends with .query(handler), .mutation(handler) or .subscription(handler)
  bad(() => router({ a: procedure() }), 'E_BAD_OPTION', /last step/)
  // @ts-expect-error -- it is neither a procedure nor a router
  bad(() => router({ a: 5 }), 'E_BAD_OPTION', /neither a procedure nor a router/)
  bad(() => caller({} as never), 'E_BAD_OPTION', /router/)
  bad(() => tracked('', 1), 'E_BAD_OPTION', /one line/)
  bad(() => tracked('a\nb', 1), 'E_BAD_OPTION', /one line/)
})
