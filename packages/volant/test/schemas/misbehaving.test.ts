/** Libraries that do not keep to Standard Schema. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Problem, Schema } from 'volant'
import { procedure, rest, router } from 'volant/procedures'
import { Kit } from '../kit.ts'

const kit = new Kit()

describe('schemas that misbehave', () => {
  const own = (check: (value: unknown) => unknown): Schema =>
    ({ '~standard': { version: 1, vendor: 'own', validate: check } }) as Schema

  for (const [name, result] of Object.entries<unknown>({
    nothing: undefined,
    null: null,
    true: true,
    text: 'SECRET',
    'an empty object': {},
    'issues of undefined, without a value': { issues: undefined },
    'issues that are text': { issues: 'SECRET' },
    'issues that are an object': { issues: { message: 'SECRET' } },
  })) {
    test(`${name} in place of a result is no pass: 500, and the schema is named`, async () => {
      const app = kit.app()
      app.post('/one', { body: own(() => result) }, () => 'passed')
      app.post('/two', { query: own((value) => ({ value })), body: own(() => result) }, () => 'passed')
      app.post('/later', { body: own(async () => result) }, () => 'passed')
      const called = (check: () => unknown, path: string) =>
        procedure()
          .input(own(check))
          .rest({ method: 'POST', path })
          .mutation(() => 'passed')
      const now = called(() => result, '/procedure')
      const later = called(async () => result, '/procedure/later')
      app.register(rest(router({ now, later })))
      app.post('/reply', { response: own(() => result) }, () => 'passed')
      await kit.serve(app, async (live) => {
        for (const path of ['/one', '/two', '/later', '/reply']) {
          const reply = await live.post(path, 'application/json', '{}')
          assert.equal(reply.status, 500, path)
          const report = kit.reports.at(-1) as { code: string; message: string }
          assert.equal(report.code, 'E_BAD_SCHEMA')
          assert.ok(report.message.includes(path) && report.message.includes('"own"'), report.message)
        }
        for (const path of ['/procedure', '/procedure/later']) {
          const reply = await live.post(path, 'application/json', '{}')
          assert.equal(reply.status, 500, path)
          const report = kit.reports.at(-1) as { code: string; message: string }
          assert.equal(report.code, 'E_BAD_SCHEMA')
          assert.match(report.message, /^a procedure's input: validate of "own" gives /)
        }
      })
    })
  }

  test('issues that are not what they should be are issues all the same', async () => {
    const issues = [
      null,
      {},
      { message: 1, path: 'x' },
      { message: 'text', path: [null, { key: 'a' }, 0, Symbol('s')] },
      { message: 'm'.repeat(1_000_000) },
    ]
    const app = kit.app()
    app.post('/x', { body: own(() => ({ issues })) }, () => 'passed')
    await kit.serve(app, async (live) => {
      const reply = await live.post('/x', 'application/json', '{}')
      assert.equal(reply.status, 400)
      const { errors = [] } = reply.json() as Problem
      assert.deepEqual(
        errors.map(({ pointer }) => pointer),
        ['#', '#', '#', '#/undefined/a/0/Symbol(s)', '#'],
      )
      assert.deepEqual(
        errors.map(({ detail }) => detail.length),
        [12, 12, 12, 4, 501],
      )
    })
  })

  test('falsy issues are none, as the standard says', async () => {
    const app = kit.app()
    app.post('/x', { body: own((value) => ({ value, issues: null })) }, (ctx) => ctx.json(ctx.body))
    await kit.serve(app, async (live) => {
      assert.deepEqual((await live.post('/x', 'application/json', '{"a":1}')).json(), { a: 1 })
    })
  })

  test('one that throws, at once or later, is a 500 that says nothing', async () => {
    const fail = () => {
      throw new Error('SECRET')
    }
    const app = kit.app()
    app.post('/now', { body: own(fail) }, () => 'passed')
    app.post('/later', { body: own(async () => fail()) }, () => 'passed')
    app.post('/both', { query: own(async (value) => ({ value })), body: own(fail) }, () => 'passed')
    app.post('/reply', { response: own(fail) }, () => 'passed')
    app.post('/reply/later', { response: own(async () => fail()) }, () => 'passed')
    await kit.serve(app, async (live) => {
      for (const path of ['/now', '/later', '/both', '/reply', '/reply/later']) {
        const before = kit.reports.length
        const reply = await live.post(path, 'application/json', '{}')
        assert.equal(reply.status, 500, path)
        assert.ok(!reply.text.includes('SECRET'))
        assert.deepEqual(kit.reports.slice(before).map(String), ['Error: SECRET'])
      }
    })
  })

  test('one without JSON Schema checks requests and replies all the same', async () => {
    const even = own((value) =>
      (value as { n: number }).n % 2 === 0 ? { value } : { issues: [{ message: 'odd', path: ['n'] }] },
    )
    const app = kit.app()
    app.post('/x', { body: even, response: even }, (ctx) => ctx.body as object)
    await kit.serve(app, async (live) => {
      assert.deepEqual((await live.post('/x', 'application/json', '{"n":2}')).json(), { n: 2 })
      assert.equal((await live.post('/x', 'application/json', '{"n":1}')).status, 400)
    })
  })
})
