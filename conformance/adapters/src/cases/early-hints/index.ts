/** Interim replies that name what a page needs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { VolantError } from 'volant'
import type { Kit } from '../../kit.ts'
import { style } from './links.ts'
import { orderOfEarlyHints } from './order.ts'
import { earlyHintsBeforeReplies } from './replies.ts'

export function earlyHints(kit: Kit): void {
  if (!kit.can('interim')) return unsupported(kit)
  earlyHintsBeforeReplies(kit)
  orderOfEarlyHints(kit)
}

/** This adapter has no way to send an interim reply. */
function unsupported(kit: Kit): void {
  test('early hints throw E_UNSUPPORTED, and the reply is sent', async () => {
    const app = kit.app()
    app.get('/page', (ctx) => {
      try {
        ctx.earlyHints({ link: style })
        return 'taken'
      } catch (error) {
        return error instanceof VolantError ? error.code : 'another error'
      }
    })
    await kit.serve(app, async (live) => {
      assert.equal((await live.ask('/page')).text, 'E_UNSUPPORTED')
    })
  })
}
