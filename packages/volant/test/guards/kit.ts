/** What cases about guards share: an app behind one, and options that are refused. */
import assert from 'node:assert/strict'
import type { AppOptions, Middleware, VolantError } from 'volant'
import { Kit, type Live } from '../kit.ts'

const kit = new Kit()

/** Serves routes behind the guard. */
export function behind(
  guard: Middleware,
  run: (live: Live) => Promise<void>,
  options: AppOptions = {},
): Promise<void> {
  const app = kit.app(options)
  app.use(guard)
  app.get('/x', (ctx) => ctx.text(`x of ${ctx.ip}`))
  app.post('/x', () => 'posted')
  app.get('/health', () => 'well')
  return kit.serve(app, run)
}

export const codeOf = (reply: { json(): unknown }): unknown => (reply.json() as { code: string }).code

/** Asserts that each call throws `E_BAD_OPTION` with that message. */
export function refuses(rows: readonly (readonly [() => unknown, RegExp])[]): void {
  for (const [make, message] of rows) {
    assert.throws(make, (error: VolantError) => {
      assert.equal(error.code, 'E_BAD_OPTION')
      assert.match(error.message, message)
      return true
    })
  }
}
