/** Vary, tags and lengths of compressed replies, and where in the order compression comes. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Context, etag } from 'volant'
import { compress } from 'volant/compress'
import { Kit } from '../kit.ts'

const kit = new Kit()

const long = 'compressible '.repeat(200)

const gzip = { headers: { 'accept-encoding': 'gzip' } }

describe('compress', () => {
  test('a reply to HEAD varies as that to GET does, and has no length that compression would change', async () => {
    const app = kit.app()
    app.use(compress())
    app.get('/long', (ctx) => ctx.header('etag', '"1"').header('accept-ranges', 'bytes').text(long))
    app.get('/stream', (ctx) => ctx.stream([long], { type: 'text/plain', length: long.length }))
    await kit.serve(app, async (live) => {
      for (const path of ['/long', '/stream']) {
        const { headers } = await live.ask(path, { method: 'HEAD', ...gzip })
        assert.deepEqual([headers['vary'], headers['content-length']], ['Accept-Encoding', undefined])
        assert.deepEqual([headers['content-encoding'], headers['accept-ranges']], [undefined, undefined])
        const as = await live.ask(path, { method: 'HEAD' })
        assert.deepEqual(
          [as.headers['vary'], as.headers['content-length']],
          ['Accept-Encoding', String(long.length)],
        )
      }
      assert.equal((await live.ask('/long', { method: 'HEAD', ...gzip })).headers['etag'], 'W/"1"')
    })
  })

  for (const order of ['before', 'behind'] as const) {
    test(`tags are of the content, with etag() ${order} it, and come back weak`, async () => {
      const app = kit.app()
      if (order === 'before') app.use(etag(), compress())
      else app.use(compress(), etag())
      app.get('/x', () => long)
      await kit.serve(app, async (live) => {
        const strong = (await live.ask('/x')).headers['etag'] as string
        assert.match(strong, /^"/)
        const reply = await live.ask('/x', gzip)
        assert.equal(reply.headers['etag'], `W/${strong}`)
        for (const tag of [strong, `W/${strong}`]) {
          const same = await live.ask('/x', { headers: { ...gzip.headers, 'if-none-match': tag } })
          assert.deepEqual(
            [same.status, same.headers['etag'], same.headers['vary'], same.headers['content-encoding']],
            [304, tag, 'Accept-Encoding', undefined],
          )
        }
      })
    })
  }

  test('comes after every hook of onSend, wherever it is registered', async () => {
    const app = kit.app()
    const seen: unknown[] = []
    const see = (_: Context, { body, headers }: { body: unknown; headers: { has(name: string): boolean } }) =>
      void seen.push([body, headers.has('content-encoding')])
    app.onSend(see)
    app.with(compress()).get('/x', { handlerTimeout: 1_000 }, () => long)
    await kit.serve(app, async (live) => {
      assert.equal((await live.ask('/x', gzip)).headers['content-encoding'], 'gzip')
      assert.deepEqual(seen, [[long, false]])
    })
  })
})
