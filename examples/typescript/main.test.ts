import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createApp, type Context } from 'volant'

process.env.PORT = '0'
const { app, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))

test('what the types say is there', async () => {
  assert.deepEqual(await (await fetch(`${url}/posts/first`)).json(), { slug: 'first', seenBy: 'Ada' })
  const reply = await fetch(`${url}/posts/first`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: '{"title":"One"}',
  })
  assert.deepEqual(await reply.json(), { slug: 'first', title: 'One', by: 1 })
})

test('what they do not say does not compile', () => {
  const other = createApp()
  // @ts-expect-error the pattern has no slug
  other.get('/posts/:id', (ctx) => ctx.params.slug)
  // @ts-expect-error nobody sets the user
  other.get('/users/:id', (ctx: Context<{ state: { user: string } }>) => ctx.state.user)
  assert.equal(other.routes().length, 2)
})
