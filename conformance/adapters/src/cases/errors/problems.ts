import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { HTTPError } from 'volant'
import { type Kit } from '../../kit.ts'

/** L4: handlers that throw, reject, never settle or reply twice. */
export function problemsOfErrors(kit: Kit): void {
  describe('errors', () => {
    test('an HTTPError is a problem with its members', async () => {
      const app = kit.app()
      app.get('/x', () => {
        throw new HTTPError(409, 'taken', {
          code: 'NAME_TAKEN',
          data: { name: 'ann' },
          headers: { 'x-why': 'name' },
        })
      })
      await kit.serve(app, async (live) => {
        const reply = await live.ask('/x')
        assert.equal(reply.status, 409)
        assert.equal(reply.headers['x-why'], 'name')
        assert.equal(reply.headers['content-type'], 'application/problem+json; charset=utf-8')
        assert.deepEqual(reply.json(), {
          type: 'about:blank',
          title: 'Conflict',
          status: 409,
          detail: 'taken',
          code: 'NAME_TAKEN',
          data: { name: 'ann' },
        })
      })
    })

    const secrets: [string, () => unknown][] = [
      [
        'a thrown Error',
        () => {
          throw new Error('secret')
        },
      ],
      ['a rejection', () => Promise.reject(new Error('secret'))],
      [
        'a thrown string',
        () => {
          throw 'secret'
        },
      ],
      [
        'a thrown undefined',
        () => {
          throw undefined
        },
      ],
      ['a rejection with null', () => Promise.reject(null)],
      [
        'an HTTPError 500',
        () => {
          throw new HTTPError(500, 'secret', { code: 'SECRET', data: 'secret' })
        },
      ],
      [
        'an error with a status of its own',
        () => {
          throw Object.assign(new Error('secret'), { status: 404 })
        },
      ],
      [
        'a thenable that throws',
        () => ({
          // oxlint-disable-next-line unicorn/no-thenable -- that is the case
          get then(): never {
            throw new Error('secret')
          },
        }),
      ],
    ]

    for (const [name, handler] of secrets) {
      test(`${name} is 500 without detail`, async () => {
        const app = kit.app()
        app.get('/x', handler)
        app.get('/mw', (_ctx, next) => next(), handler)
        app.get(
          '/async-mw',
          async (_ctx, next) => {
            await next()
          },
          handler,
        )
        await kit.serve(app, async (live) => {
          for (const path of ['/x', '/mw', '/async-mw']) {
            const reply = await live.ask(path)
            assert.equal(reply.status, 500, path)
            assert.doesNotMatch(reply.text, /secret/i)
          }
        })
      })
    }

    test('5xx that is exposed, and 4xx that is not', async () => {
      const app = kit.app()
      app.get('/a', () => {
        throw new HTTPError(503, 'back at noon', { expose: true, headers: { 'retry-after': '60' } })
      })
      app.get('/b', () => {
        throw new HTTPError(403, 'secret', { expose: false })
      })
      await kit.serve(app, async (live) => {
        const shown = await live.ask('/a')
        assert.match(shown.text, /back at noon/)
        assert.equal(shown.headers['retry-after'], '60')
        assert.doesNotMatch((await live.ask('/b')).text, /secret/)
      })
    })

    test('unexpected errors are reported, expected ones are not', async () => {
      const app = kit.app()
      const boom = new Error('boom')
      app.get('/boom', () => {
        throw boom
      })
      app.get('/fine', () => {
        throw new HTTPError(404)
      })
      await kit.serve(app, async (live) => {
        const before = kit.reports.length
        await live.ask('/fine')
        assert.equal(kit.reports.length, before)
        await live.ask('/boom')
        assert.deepEqual(kit.reports.slice(before), [boom])
      })
    })
  })
}
