import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Call, versionsOf } from '../../call.ts'
import type { Kit } from '../../kit.ts'

/** Trailer fields of requests. */
export function trailersOfRequests(kit: Kit): void {
  for (const version of versionsOf(kit)) {
    describe(`trailers of requests over HTTP/${version}`, kit.needs('trailers'), () => {
      test('a handler has them once a streamed body has ended', async () => {
        const app = kit.app()
        const before: unknown[] = []
        app.post('/web', { bodyMode: 'stream' }, async (ctx) => {
          before.push({ ...ctx.trailers })
          const reader = ctx.bodyStream.getReader()
          let text = ''
          for (;;) {
            const { done, value } = await reader.read()
            if (done) break
            text += Buffer.from(value).toString()
            before.push({ ...ctx.trailers })
          }
          assert.equal(Object.getPrototypeOf(ctx.trailers), null)
          return { text, trailers: { ...ctx.trailers } }
        })
        app.post('/request', { bodyMode: 'stream' }, async (ctx) => {
          const text = await ctx.request.text()
          return { text, trailers: { ...ctx.trailers } }
        })
        app.post('/whole', async (ctx) => ({ text: ctx.bodyText, trailers: { ...ctx.trailers } }))
        await kit.serve(
          app,
          async (live) => {
            const trailers = { 'x-checksum': 'abc', 'x-empty': '' }
            for (const path of ['/web', '/request']) {
              const call = Call.open(live.address, version, path, { trailers })
              call.write('one')
              call.write('two')
              const { text } = await call.end().whole()
              assert.deepEqual(JSON.parse(text), { text: 'onetwo', trailers })
            }
            assert.ok(before.every((each) => Object.keys(each as object).length === 0))
            // A body that is complete before the handler runs has lost its trailers.
            const call = Call.open(live.address, version, '/whole', { trailers })
            call.write('one')
            assert.deepEqual(JSON.parse((await call.end().whole()).text), { text: 'one', trailers: {} })
            const none = Call.open(live.address, version, '/request')
            none.write('one')
            assert.deepEqual(JSON.parse((await none.end().whole()).text), { text: 'one', trailers: {} })
          },
          { http2: version === '2' },
        )
      })

      test('behind an empty body, and as many as there may be', async () => {
        const app = kit.app()
        app.post('/', { bodyMode: 'stream' }, async (ctx) => {
          const text = await ctx.request.text()
          return { text, trailers: { ...ctx.trailers } }
        })
        await kit.serve(
          app,
          async (live) => {
            const trailers = Object.fromEntries(
              Array.from({ length: 32 }, (_, at) => [`x-${at}`, 'v'.repeat(at * 10)]),
            )
            const { text } = await Call.open(live.address, version, '/', { trailers }).end().whole()
            assert.deepEqual(JSON.parse(text), { text: '', trailers })
          },
          { http2: version === '2' },
        )
      })
    })
  }
}
