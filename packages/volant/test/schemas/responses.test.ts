/** What the schema of a reply lets out, by every library. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { App, Problem } from 'volant'
import { Kit } from '../kit.ts'
import { type In, libraries, type Schemas } from './libraries.ts'

const kit = new Kit()

const whole: In['reply'] = { id: 1, note: 'n', city: 'Bern', lines: [{ sku: 'a' }], size: 2 }

/** What a handler gives, what of it is sent in production, and what development says of it. */
const replies: Readonly<Record<string, [given: unknown, sent: unknown, told: RegExp | null]>> = {
  'what is declared': [whole, whole, null],
  'what is optional left out': [
    { id: 1, note: null, lines: [], size: 'm' },
    { id: 1, note: null, lines: [], size: 'm' },
    null,
  ],
  'more than is declared': [{ ...whole, more: 'SECRET' }, whole, / #\/more:/],
  'more within': [
    { ...whole, lines: [{ sku: 'a' }, { sku: 'b', more: 'SECRET' }] },
    { ...whole, lines: [{ sku: 'a' }, { sku: 'b' }] },
    / #\/lines\/1\/more:/,
  ],
}

/** What no schema lets out, and the place that is reported. */
const refused: Readonly<Record<string, [given: unknown, reported: RegExp]>> = {
  'another type': [{ ...whole, id: 'SECRET' }, /#\/id: /],
  'another type within': [{ ...whole, lines: [{ sku: { of: 'SECRET' } }] }, /#\/lines\/0\/sku: /],
  'something missing': [{ id: 1, lines: [], size: 1, city: 'SECRET' }, /#\/note: /],
  'no alternative': [{ ...whole, size: 'SECRET' }, /#\/size: /],
  'no object': ['SECRET', /#: /],
}

for (const [library, api] of Object.entries(libraries))
  describe(`schemas of ${library}`, () => responses(api))

function responses(api: Schemas): void {
  const give = (given: unknown, mode: 'strip' | 'throw'): App => {
    const app = kit.app({ undeclaredProperties: mode })
    app.get('/x', { response: api.reply }, () => given as In['reply'])
    return app
  }
  for (const [name, [given, sent, told]] of Object.entries(replies)) {
    test(`${name}: in production what is declared is sent`, () =>
      kit.serve(give(given, 'strip'), async (live) => {
        const reply = await live.ask('/x')
        assert.deepEqual([reply.status, reply.json()], [200, sent])
      }))
    test(`${name}: in development it is ${told === null ? 'sent' : 'refused'}`, () =>
      kit.serve(give(given, 'throw'), async (live) => {
        const reply = await live.ask('/x')
        if (told === null) return assert.deepEqual([reply.status, reply.json()], [200, sent])
        assert.equal(reply.status, 500)
        const report = kit.reports.at(-1) as { code: string; message: string }
        assert.equal(report.code, 'E_RESPONSE_UNDECLARED')
        assert.match(report.message, told)
      }))
  }
  for (const [name, [given, reported]] of Object.entries(refused)) {
    test(`${name} is not let out, nor reported`, () =>
      kit.serve(give(given, 'strip'), async (live) => {
        const reply = await live.ask('/x')
        assert.equal(reply.status, 500)
        assert.ok(!reply.text.includes('SECRET'))
        const report = kit.reports.at(-1) as { code: string; message: string }
        assert.equal(report.code, 'E_RESPONSE_INVALID')
        assert.match(report.message, reported)
        assert.ok(!report.message.includes('SECRET'), report.message)
      }))
  }

  test('what a handler gives is not changed', async () => {
    const given = Object.freeze({ ...whole, lines: Object.freeze([Object.freeze({ sku: 'a', more: 1 })]) })
    await kit.serve(give(given, 'strip'), async (live) => {
      assert.deepEqual((await live.ask('/x')).json(), whole)
      assert.deepEqual((await live.ask('/x')).json(), whole)
    })
  })

  test('an error’s data is what its schema says', async () => {
    const app = kit.app({ undeclaredProperties: 'strip' })
    app.get('/x/:id', { errors: { GONE: { status: 410, data: api.data } } }, (ctx) => {
      const data = ctx.params.id === 'bad' ? { id: 'SECRET' } : { id: 7, more: 'SECRET' }
      throw ctx.fail('GONE', data as In['data'])
    })
    await kit.serve(app, async (live) => {
      const gone = (await live.ask('/x/1')).json() as Problem & { data: unknown }
      assert.deepEqual([gone.status, gone.code, gone.data], [410, 'GONE', { id: 7 }])
      const bad = await live.ask('/x/bad')
      assert.equal(bad.status, 500)
      assert.ok(!bad.text.includes('SECRET'))
    })
  })
}
