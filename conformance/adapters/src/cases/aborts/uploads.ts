import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type ResponseInfo, type RouteOptions } from 'volant'
import { deferred, eventually, type Kit, request, turns } from '../../kit.ts'

/** L5: the client leaves at every point. */
export function abortsOfUploads(kit: Kit): void {
  describe('aborts', () => {
    const unfinished = [
      ['while its body is read', 'half', 'reading'],
      ['before its body is read', 'half', 'handler'],
      ['before the first byte of its body', '', 'handler'],
      ['before the first byte of its body, while that is checked', '', 'check'],
    ] as const

    for (const [when, body, stage] of unfinished) {
      for (const how of ['close', 'end', 'reset'] as const) {
        test(`${how} ${when}: nothing is left, and nobody is blamed`, async () => {
          const app = kit.app()
          const before = kit.reports.length
          const told = deferred<ResponseInfo>()
          app.onResponse((_, info) => told.resolve(info))
          const reached = deferred()
          const left = deferred()
          // The client leaves meanwhile; not every adapter notices before the body is read.
          const leaving = (): Promise<void> => {
            reached.resolve()
            return left.promise
          }
          const options: RouteOptions = stage === 'check' ? { beforeBody: leaving } : { bodyMode: 'stream' }
          app.post('/up', options, async (ctx) => {
            if (stage === 'handler') await leaving()
            if (stage === 'check') return 'done'
            for await (const chunk of ctx.bodyStream) {
              assert.ok(chunk.length)
              reached.resolve()
            }
            return 'done'
          })
          await kit.serve(app, async (live) => {
            const wire = await live.connect()
            wire.send(request('POST', '/up', { 'content-length': '1000' }, body))
            await reached.promise
            if (how === 'end') wire.socket.end()
            else wire[how]()
            await turns()
            left.resolve()
            const { status, aborted } = await told.promise
            assert.deepEqual([status, aborted], [499, true])
            await eventually(
              () => app.stats().inFlight === 0 && app.stats().connections === 0,
              'nothing left',
            )
            assert.equal(kit.reports.length, before)
          })
        })
      }
    }

    test('an upload stream fails with E_ABORTED when the client leaves, and nothing is reported', async () => {
      const app = kit.app()
      const failure = deferred<{ code?: string }>()
      const begun = deferred()
      const before = kit.reports.length
      app.post('/up', { bodyMode: 'stream' }, async (ctx) => {
        try {
          for await (const chunk of ctx.bodyStream) {
            assert.ok(chunk.length > 0)
            begun.resolve()
          }
        } catch (error) {
          failure.resolve(error as { code?: string })
          throw error
        }
      })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send('POST /up HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\nabc')
        await begun.promise
        wire.reset()
        assert.equal((await failure.promise).code, 'E_ABORTED')
        await eventually(() => app.stats().inFlight === 0, 'nothing in flight')
        assert.equal(kit.reports.length, before)
      })
    })
  })
}
