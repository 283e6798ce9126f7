/** Paths with a slash at their end, and those without. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { trailingSlash } from 'volant/middleware'
import { Kit } from '../kit.ts'
import { refuses } from './kit.ts'

const kit = new Kit()

describe('trailingSlash', () => {
  const ask = (policy: 'add' | 'remove', rows: [path: string, to: string | number][]) => async () => {
    const app = kit.app()
    app.use(trailingSlash(policy))
    app.get('/a', () => 'a')
    app.get('/b/', () => 'b')
    app.post('/c', () => 'c')
    app.get('/files/*', () => 'file')
    await kit.serve(app, async (live) => {
      for (const [path, to] of rows) {
        const { status, headers } = await live.ask(path)
        if (typeof to === 'number') assert.equal(status, to, path)
        else assert.deepEqual([status, headers['location']], [308, to], path)
      }
      for (const method of ['POST', 'PUT', 'DELETE'])
        assert.equal((await live.ask(policy === 'add' ? '/b' : '/a/', { method })).status, 404)
    })
  }

  test(
    'removed',
    ask('remove', [
      ['/a', 200],
      ['/a/', '/a'],
      ['/a/?q=1&r=/', '/a?q=1&r=/'],
      ['/a//', '/a'],
      ['/b/', 200],
      ['/', 404],
      ['/c', 405],
      ['/files/x/', 200],
      ['//evil.example/', '/evil.example'],
      ['///evil.example/', '/evil.example'],
      ['/.//evil.example/', 400],
      ['/%5Cevil.example/', '/%5Cevil.example'],
      ['/%2F%2Fevil.example/', '/%2F%2Fevil.example'],
      ['//', '/'],
    ]),
  )

  test(
    'added',
    ask('add', [
      ['/a', 200],
      ['/b', '/b/'],
      ['/b?q=1', '/b/?q=1'],
      ['/b/', 200],
      ['/', 404],
      ['/c', 405],
      ['/style.css', 404],
      ['//evil.example', 404],
      ['//evil', '/evil/'],
      ['/none/', 404],
    ]),
  )

  test('a folder of files keeps its own redirects', async () => {
    const app = kit.app()
    app.use(trailingSlash('remove'))
    app.static('/docs', new URL('../../../../../docs', import.meta.url), { index: 'README.md' })
    await kit.serve(app, async (live) => {
      assert.equal((await live.ask('/docs')).headers['location'], '/docs/')
      assert.equal((await live.ask('/docs/')).status, 200)
    })
  })

  test('options that make no sense', () => {
    refuses([
      [
        () => trailingSlash('strip' as never),
        /trailingSlash takes add, remove, not 'strip'|trailingSlash takes add, remove/,
      ],
      [() => trailingSlash('add', { status: 303 as never }), /trailingSlash: status/],
      [() => trailingSlash('add', { alwaysRedirect: true } as never), /never redirected/],
    ])
  })
})
