import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { describe, test } from 'node:test'
import { eventually, type Kit, request, turns, untilAborted } from '../kit.ts'

export function asyncContext(kit: Kit): void {
  describe('AsyncLocalStorage', () => {
    test('enterWith in one request is not seen by the next', async () => {
      const store = new AsyncLocalStorage<string>()
      const app = kit.app()
      app.get('/:id', async (ctx) => {
        const before = store.getStore() ?? 'nothing'
        store.enterWith(ctx.params.id)
        await turns(1)
        return { before, after: store.getStore() }
      })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        const first = ['1', '2', '3']
        const sent = first.map((id) => request('GET', `/${id}`))
        for await (const reply of kit.replies(wire, sent))
          assert.deepEqual(reply.json(), { before: 'nothing', after: first.shift() })
        for (const id of ['4', '5']) {
          assert.deepEqual((await wire.send(request('GET', `/${id}`)).reply()).json(), {
            before: 'nothing',
            after: id,
          })
        }
        assert.deepEqual((await app.inject('/6')).json(), { before: 'nothing', after: '6' })
      })
    })

    test('run in middleware holds across awaits, for 100 requests at once', async () => {
      const store = new AsyncLocalStorage<{ id: string }>()
      const app = kit.app()
      app.use((ctx, next) => store.run({ id: ctx.path }, next))
      app.get('/:id', async (ctx) => {
        for (let at = 0; at < 3; at++) {
          await turns(Number(ctx.params.id) % 5)
          assert.equal(store.getStore()?.id, ctx.path)
        }
        await new Promise((resolve) => setImmediate(resolve))
        return store.getStore()
      })
      await kit.serve(app, async (live) => {
        await Promise.all(
          Array.from({ length: 10 }, async (_, connection) => {
            const wire = await live.connect()
            const ids = Array.from({ length: 10 }, (_, at) => connection * 10 + at)
            const sent = ids.map((id) => request('GET', `/${id}`))
            for await (const reply of kit.replies(wire, sent))
              assert.deepEqual(reply.json(), { id: `/${ids.shift()}` })
          }),
        )
      })
    })

    test('the store is there in the body stream, the abort signal and the stream of the reply', async () => {
      const store = new AsyncLocalStorage<string>()
      const app = kit.app()
      const seen: Record<string, string | undefined> = {}
      app.post('/x', { bodyMode: 'stream' }, async (ctx) => {
        store.enterWith('mine')
        ctx.signal.addEventListener('abort', () => {
          seen['abort'] = store.getStore()
        })
        for await (const chunk of ctx.bodyStream) seen[`chunk${chunk.length > 0}`] = store.getStore()
        return (async function* () {
          yield 'x'
          await turns(1)
          seen['reply'] = store.getStore()
          await untilAborted(ctx.signal)
        })()
      })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send(request('POST', '/x', {}, 'abc'))
        await eventually(() => seen['reply'] !== undefined, 'the reply')
        wire.reset()
        await eventually(() => seen['abort'] !== undefined, 'the abort')
        assert.deepEqual(seen, { chunktrue: 'mine', reply: 'mine', abort: 'mine' })
      })
    })
  })
}
