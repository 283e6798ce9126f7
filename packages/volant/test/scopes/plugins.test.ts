import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { turns } from '@volant/test-kit'
import type { Scope } from 'volant'
import { mark, kit } from './kit.ts'

describe('scopes', () => {
  test('plugins have a scope of their own, async ones are waited for', async () => {
    const app = kit.app()
    const order: string[] = []
    app.register(
      (scope: Scope, { name }: { name: string }) => {
        scope.use(mark(name))
        scope.get(`/${name}`, () => name)
      },
      { name: 'first' },
    )
    app.register(async (scope: Scope) => {
      await turns()
      scope.get('/slow', () => 'slow')
      scope.register(async (inside: Scope) => {
        await Promise.resolve()
        inside.get('/inside', () => 'inside')
      })
      order.push('plugin')
    })
    app.onStart(() => void order.push('start'))
    app.get('/plain', () => 'plain')
    await kit.serve(app, async (live) => {
      assert.deepEqual(order, ['plugin', 'start'])
      assert.equal((await live.ask('/first')).headers['x-ran'], 'first')
      assert.equal((await live.ask('/plain')).headers['x-ran'], undefined)
      assert.equal((await live.ask('/slow')).text, 'slow')
      assert.equal((await live.ask('/inside')).text, 'inside')
    })
  })

  test('a plugin that fails is the failure of listen and inject', async () => {
    const app = kit.app()
    app.register(async () => {
      throw new Error('no database')
    })
    await assert.rejects(app.inject('/'), /no database/)
    await assert.rejects(app.listen({ port: 0, host: '127.0.0.1' }), /no database/)
    await app.close()
  })

  test('a plugin may give any thenable', async () => {
    const app = kit.app()
    app.register(((scope: Scope) => ({
      // oxlint-disable-next-line unicorn/no-thenable -- that is the case
      then(go: () => void) {
        setImmediate(() => {
          scope.get('/late', () => 'late')
          go()
        })
      },
    })) as never)
    assert.equal((await app.inject('/late')).text(), 'late')
  })
})
