/** Procedures that a typed client calls. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createClient } from 'volant/client'
import { rest } from 'volant/procedures'
import { Kit } from '../kit.ts'
import { tree } from './posts.ts'

const same = <_T extends true>(): void => {}

const kit = new Kit()

describe('procedures over REST', () => {
  test('a typed client calls them', async () => {
    const routes = rest(tree, { prefix: '/api' })
    const app = kit.app()
    app.register(routes)
    app.expose(routes.api)
    await kit.serve(app, async (live) => {
      const client = createClient<typeof routes.api>(live.address.url, { headers: { 'x-user': 'ann' } })
      const created = await client.posts.createPost({ body: { title: 'one' } })
      assert.ok(created.ok)
      same<Same<typeof created.status, 201>>()
      same<Same<typeof created.data, { id: string; title: string }>>()
      assert.deepEqual(created.data, { id: 'p1', title: 'one' })

      const listed = await client.posts.listPosts({ query: { limit: 2, tags: ['a'] } })
      assert.ok(listed.ok)
      assert.deepEqual(listed.data.input, { limit: 2, tags: ['a'], all: false })
      assert.ok((await client.posts.listPosts()).ok)
      // @ts-expect-error -- a text is no limit
      assert.equal((await client.posts.listPosts({ query: { limit: 'x' } })).status, 400)

      const comment = await client.posts.comments.getComment({ params: { postId: 'p', id: 7 } })
      assert.ok(comment.ok)
      assert.deepEqual(comment.data, { what: 'comment', input: { postId: 'p', id: 7 } })
      const updated = await client.posts.updatePost({ params: { id: 'p1' }, body: { title: 'two' } })
      assert.ok(updated.ok)
      const published = await client.posts.publish({ params: { id: 'p1' } })
      same<Same<Extract<typeof published, { ok: true }>['status'], 202>>()
      assert.equal(published.status, 202)
      assert.ok((await client.health.getHealth()).ok)
      assert.ok((await client.admin.categories.getCategory({ params: { id: 'c1' } })).ok)

      const missing = await client.posts.removePost({ params: { id: 'none' } })
      assert.ok(!missing.ok && missing.code === 'NO_POST')
      same<Same<typeof missing.data, { id: string }>>()
      assert.deepEqual(missing.data, { id: 'none' })
      const removed = await client.posts.removePost({ params: { id: 'p1' } })
      assert.ok(removed.ok)
      same<Same<typeof removed.status, 204>>()
      same<Same<'getSecret' extends keyof typeof client.posts ? true : false, false>>()
      same<Same<'getaway' extends keyof typeof client.posts ? true : false, false>>()
      same<Same<'ping' extends keyof typeof client ? true : false, false>>()
    })
  })
})

/** Compiles only if both are the same type. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
