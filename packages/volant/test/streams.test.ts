import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createApp } from '../src/index.ts'
import type { RequestContext } from '../src/types/request.ts'

test('the app forgets a stream whose client left, also when its source never goes on', async () => {
  const app = createApp({ signals: false })
  const client = new AbortController()
  let seen: RequestContext | null = null
  app.get('/', (ctx) => {
    seen = ctx as unknown as RequestContext
    ctx.stream(
      (async function* () {
        yield 'first'
        client.abort()
        await new Promise(() => {})
      })(),
    )
    assert.equal(seen.app.streams.size, 1)
  })
  await assert.rejects(app.inject({ url: '/', signal: client.signal }), { name: 'AbortError' })
  assert.equal((seen as RequestContext | null)?.app.streams.size, 0)
})
