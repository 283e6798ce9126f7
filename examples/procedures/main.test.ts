import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createTRPCClient, httpBatchStreamLink, safe } from '@trpc/client'
import type { AppRouter } from './main.ts'

process.env.PORT = '0'
const { app, call, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))

const headers = { 'x-user': 'ada' }
const client = createTRPCClient<AppRouter>({ links: [httpBatchStreamLink({ url: `${url}/trpc`, headers })] })

test('REST, tRPC and direct calls reach the same procedures', async () => {
  const made = await fetch(`${url}/api/posts`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ title: 'one' }),
  })
  assert.equal(made.status, 201)
  assert.deepEqual(await made.json(), { id: 1, title: 'one', by: 'ada' })
  assert.deepEqual(await client.posts.createPost.mutate({ title: 'two' }), { id: 2, title: 'two', by: 'ada' })
  assert.deepEqual(await call.posts.createPost({ title: 'three' }), { id: 3, title: 'three', by: 'cron' })

  const list = (await (await fetch(`${url}/api/posts?limit=2`)).json()) as { title: string }[]
  assert.deepEqual(
    list.map(({ title }) => title),
    ['one', 'two'],
  )
  const [one, all] = await Promise.all([
    client.posts.getPost.query({ id: 1 }),
    client.posts.listPosts.query({}),
  ])
  assert.equal(one.title, 'one')
  assert.equal(all.length, 3)
})

async function told(id: number): Promise<string | undefined> {
  const [post, error] = await safe(client.posts.getPost.query({ id }))
  if (error === undefined) return post.title
  const detail = error.shape?.data.error
  if (detail?.code === 'NO_POST') return 'there is no such post'
  if (detail?.code === 'E_VALIDATION') return detail.errors[0]?.pointer
  throw error
}

test('errors are declared once, and reported by every transport in its own way', async () => {
  const reply = await fetch(`${url}/api/posts/9`)
  assert.equal(reply.status, 404)
  assert.equal(((await reply.json()) as { code: string }).code, 'NO_POST')
  assert.equal(await told(9), 'there is no such post')
  assert.equal(await told('x' as never), '#/id')
  assert.equal(await told(1), 'one')
  await assert.rejects(call.posts.getPost({ id: 9 }), { status: 404, code: 'NO_POST' })
  assert.equal((await fetch(`${url}/api/posts/x`)).status, 400)
})

test('a subscription is a stream of events', async () => {
  const input = encodeURIComponent(JSON.stringify({ from: 2 }))
  const reply = await fetch(`${url}/trpc/posts.countdown?input=${input}`)
  assert.equal(reply.headers.get('content-type'), 'text/event-stream')
  assert.match(await reply.text(), /data: 2\nid: 2\n\n\ndata: 1\nid: 1\n\n\nevent: return/)
  const events: unknown[] = []
  for await (const event of await call.posts.countdown({ from: 2 })) events.push(event)
  assert.deepEqual(events, [
    { id: '2', data: 2 },
    { id: '1', data: 1 },
  ])
})
