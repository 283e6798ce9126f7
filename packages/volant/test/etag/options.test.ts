/** Options of `etag` that make no sense. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { etag, type EtagOptions, type VolantError } from 'volant'
import { kit } from './kit.ts'

describe('etag', () => {
  test('bad options are refused by name', () => {
    const wrong: [options: unknown, message: RegExp][] = [
      [{ weak: 1 }, /^etag: weak takes true or false, not 1$/],
      [null, /^etag takes an object of options, not null$/],
      [{ waek: true }, /^etag has no option "waek"; did you mean "weak"\?/],
      [{ algorithm: 'md5' }, /^etag has no option "algorithm": /],
    ]
    for (const [options, message] of wrong) {
      const code = 'E_BAD_OPTION'
      assert.throws(
        () => etag(options as EtagOptions),
        (error: VolantError) => error.code === code && message.test(error.message),
      )
    }
  })

  test('a factory that is not called says how to write it', () => {
    const app = kit.app()
    assert.throws(() => app.use(etag as never), /app\.use\(etag\(\)\)/)
  })
})
