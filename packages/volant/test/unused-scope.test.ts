import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createApp, middleware, type Scope } from '../src/index.ts'

const guard = middleware((_, next) => next())

/** What listening writes to stderr. */
async function said(define: (app: ReturnType<typeof createApp>) => void): Promise<string> {
  const app = createApp({ adapter: { type: 'node-http' }, signals: false })
  define(app)
  const { write } = process.stderr
  let text = ''
  process.stderr.write = (chunk: string | Uint8Array): boolean => {
    text += String(chunk)
    return true
  }
  try {
    await app.listen(0, '127.0.0.1')
  } finally {
    process.stderr.write = write
    await app.close()
  }
  return text
}

test('a scope of with() without routes is told of at start', async () => {
  const text = await said((app) => {
    app.with(guard)
    app.get('/secret', () => 'open')
  })
  assert.match(text, /^volant: a scope made by with\(\) has no routes: .*\n$/)
})

test('one with routes, directly or inside, is not', async () => {
  const text = await said((app) => {
    app.with(guard).get('/a', () => 1)
    app.with(guard).group('/g', (group) => group.get('/b', () => 1))
    app
      .with(guard)
      .with(guard)
      .get('/c', () => 1)
    app.with(guard).register((scope: Scope) => void scope.get('/d', () => 1))
    app.with(guard).mount('/m', createApp({ signals: false }))
  })
  assert.equal(text, '')
})
