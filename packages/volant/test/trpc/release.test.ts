/** What a subscription holds is let go of. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { procedure, router } from 'volant/procedures'
import { eventually } from '../kit.ts'
import { served } from './served.ts'

test('tRPC: nothing is left of subscriptions with a time limit', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const signals: WeakRef<AbortSignal>[] = []
  const tree = router({
    once: procedure().subscription(async function* ({ ctx }) {
      ctx.signal.addEventListener('abort', () => {})
      signals.push(new WeakRef(ctx.signal))
      yield 1
    }),
  })
  await served(
    tree,
    async (live) => {
      for (let at = 0; at < 20; at++) assert.equal((await live.ask('/trpc/once')).status, 200)
      await eventually(() => {
        collect()
        return signals.filter((each) => each.deref() !== undefined).length < 10
      }, 'signals are released')
    },
    { maxSubscription: 60_000 },
  )
})
