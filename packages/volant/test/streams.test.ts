import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createApp } from '../src/index.ts'
import { eventually } from './kit.ts'
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

test('a generator that fails after the time of its route is reported', async () => {
  const reports: unknown[] = []
  const app = createApp({ signals: false, report: (error) => void reports.push(error) })
  const failure = new Error('the query failed')
  app.get('/', { handlerTimeout: 5 }, async function* (ctx) {
    await new Promise((over) => ctx.signal.addEventListener('abort', over))
    yield await Promise.reject<string>(failure)
  })
  assert.equal((await app.inject('/')).status, 503)
  await eventually(() => reports.length > 0, 'the report')
  assert.deepEqual(reports, [failure])
})
