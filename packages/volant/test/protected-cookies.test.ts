/** The options of `signedCookie` and `sealedCookie`, and how long a value is valid. What clients can do to them is in `conformance/adapters/src/cases/cookies.ts`. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { inspect } from 'node:util'
import { testClock } from '@volant/test-kit'
import {
  type CookieLife,
  type ProtectedCookieOptions,
  sealedCookie,
  signedCookie,
} from '../src/session/index.ts'
import type { VolantError } from '../src/index.ts'
import { Kit } from './kit.ts'

const key = 'a key of the cookies, 32 bytes and more'
const other = 'another key of the cookies, 32 bytes and more'
const kit = new Kit()

const refused: [name: unknown, options: unknown, says: RegExp][] = [
  ['a', undefined, /takes an object of options, not undefined/],
  [
    'a',
    {},
    /: keys takes an array of 1 to 16 texts, the newest first, not undefined: make a key with "openssl/,
  ],
  ['a', { keys: key }, /: keys takes an array .*, not a text/],
  [
    'a',
    { keys: [undefined] },
    /: keys\[0\] takes a text, not undefined \(is its environment variable set\?\)/,
  ],
  ['a', { keys: ['short'] }, /: keys\[0\] takes a text of 32 bytes or more, not one of 5/],
  ['a', { secret: key }, /has no option "secret"; did you mean "keys"\?/],
  ['a', { keys: [key], signed: true }, /signedCookie\(\) makes a cookie that is signed/],
  ['a', { keys: [key], maxage: 1 }, /did you mean "maxAge"\?/],
  ['a', { keys: [key], maxAge: 1.5 }, /maxAge/],
  ['a', { keys: [key], sameSite: 'Lax' }, /sameSite/],
  ['a', { keys: [key], path: 'x' }, /path/],
  ['a b', { keys: [key] }, /name/],
  ['', { keys: [key] }, /name/],
  [5, { keys: [key] }, /the name of a cookie, of 256 characters at most, not 5/],
  ['a'.repeat(257), { keys: [key] }, /256 characters at most/],
  ['__Host-a', { keys: [key], path: '/x' }, /prefix __Host-/],
  ['__Secure-a', { keys: [key], secure: false }, /browsers drop it unless it is secure/],
]

for (const [maker, make] of Object.entries({ signedCookie, sealedCookie })) {
  describe(maker, () => {
    for (const [index, [name, options, says]] of refused.entries()) {
      test(`options ${index} are refused, and no key is shown`, () => {
        assert.throws(
          () => make(name as string, options as ProtectedCookieOptions),
          ({ code, message }: VolantError) => {
            assert.equal(code, 'E_BAD_OPTION')
            assert.match(message, says)
            assert.match(message, new RegExp(maker))
            return !message.includes(key) && !message.includes('short')
          },
        )
      })
    }

    /** Sets `value`, and gives what Set-Cookie was. */
    const setBy = async (
      cookie: ReturnType<typeof make>,
      value: string,
      life?: CookieLife,
    ): Promise<string> => {
      const app = kit.app()
      app.get('/', (ctx) => cookie.set(ctx, value, life))
      const { headers } = await app.inject('/')
      await app.close()
      return String(headers['set-cookie'])
    }
    const readBy = async (
      cookie: ReturnType<typeof make>,
      set: string,
    ): Promise<{ value: unknown; set: string }> => {
      const app = kit.app()
      app.get('/', (ctx) => ({ value: cookie.get(ctx) ?? null }))
      const reply = await app.inject({ url: '/', headers: { cookie: set.split(';')[0] as string } })
      await app.close()
      const setCookie = reply.headers['set-cookie'] as string | string[] | undefined
      return { value: (reply.json() as { value: unknown }).value, set: String(setCookie) }
    }

    test('attributes are those of ctx.cookie, and a call may give another life', async () => {
      const cookie = make('__Secure-a', { keys: [key], path: '/x', sameSite: 'strict', maxAge: 60 })
      const attributes = '; Path=/x; HttpOnly; Secure; SameSite=Strict'
      assert.ok((await setBy(cookie, 'x')).endsWith(`; Max-Age=60${attributes}`))
      assert.ok((await setBy(cookie, 'x', { maxAge: 5 })).endsWith(`; Max-Age=5${attributes}`))
      assert.match(await setBy(cookie, 'x', { expires: new Date(1e12) }), /x; Expires=Sun, 09 Sep 2001/)
      assert.doesNotMatch(await setBy(cookie, 'x', {}), /Max-Age|Expires/)
    })

    test('a value that has ended is not read, whatever the browser does', async (t) => {
      const clock = testClock(t)
      const now = 1_800_000_000_000
      clock.setDate(now)
      const cookie = make('a', { keys: [key] })
      for (const [life, value] of [
        [{}, 'x'],
        [{ maxAge: 60 }, 'x'],
        [{ maxAge: 0 }, null],
        [{ maxAge: -1 }, null],
        [{ expires: new Date(now + 60_000) }, 'x'],
        [{ expires: new Date(now - 1_000) }, null],
        [{ expires: new Date(-1) }, null],
        [{ maxAge: 60, expires: new Date(0) }, 'x'],
      ] as const) {
        assert.equal((await readBy(cookie, await setBy(cookie, 'x', life))).value, value, inspect(life))
      }
      const set = await setBy(cookie, 'x', { maxAge: 60 })
      await clock.advance(59_999)
      assert.equal((await readBy(cookie, set)).value, 'x')
      await clock.advance(1)
      assert.equal((await readBy(cookie, set)).value, null)
    })

    test('a value that is protected by a new key keeps its end', async (t) => {
      const clock = testClock(t)
      clock.setDate(1_800_000_000_000)
      const set = await setBy(make('a', { keys: [other] }), 'x', { maxAge: 100 })
      const keys = [key, other]
      await clock.advance(9_000)
      const once = await readBy(make('a', { keys, maxAge: 1_000 }), set)
      assert.match(once.set, /; Max-Age=91;/)
      // It ends with a second: a part of one is lost.
      await clock.advance(500)
      const twice = await readBy(make('a', { keys: keys.toReversed() }), once.set)
      assert.match(twice.set, /; Max-Age=90;/)
      await clock.advance(90_499)
      assert.equal((await readBy(make('a', { keys }), once.set)).value, 'x')
      await clock.advance(1)
      assert.equal((await readBy(make('a', { keys }), once.set)).value, null)
    })

    test('an older key does nothing to a reply that has left', async () => {
      const set = await setBy(make('a', { keys: [other] }), 'x')
      const cookie = make('a', { keys: [key, other] })
      const app = kit.app()
      const values: unknown[] = []
      app.get('/', (ctx) => {
        ctx.text('')
        values.push(cookie.get(ctx))
      })
      const { headers } = await app.inject({ url: '/', headers: { cookie: set.split(';')[0] as string } })
      await app.close()
      assert.deepEqual([values, headers['set-cookie'], kit.reports], [['x'], undefined, []])
    })

    test('values that cannot be set throw', async () => {
      const cookie = make('a', { keys: [key] })
      const app = kit.app()
      const wrong: [value: unknown, life: unknown, code: string, says: RegExp][] = [
        [5, {}, 'E_BAD_COOKIE', /takes a text, not a value of type number/],
        [undefined, {}, 'E_BAD_COOKIE', /type undefined/],
        ['\ud800', {}, 'E_BAD_COOKIE', /unpaired surrogate/],
        ['x'.repeat(4_090), {}, 'E_BAD_COOKIE', /longer than 4096 bytes/],
        ['x'.repeat(20_000), {}, 'E_BAD_COOKIE', /most are 16384|longer than 4096/],
        ['x', { maxAge: 1.5 }, 'E_BAD_COOKIE', /maxAge/],
        ['x', { expires: new Date(NaN) }, 'E_BAD_COOKIE', /expires/],
        [
          'x',
          { path: '/' },
          'E_BAD_OPTION',
          /set of the cookie a has no option "path": a cookie has one path/,
        ],
        ['x', null, 'E_BAD_OPTION', /an object of options, not null/],
      ]
      const errors: unknown[] = []
      app.get('/', (ctx) => {
        for (const [value, life] of wrong) {
          try {
            cookie.set(ctx, value as string, life as CookieLife)
          } catch (error) {
            errors.push(error)
          }
        }
        return ctx.json({})
      })
      const { headers } = await app.inject('/')
      await app.close()
      assert.equal(headers['set-cookie'], undefined)
      assert.equal(errors.length, wrong.length)
      for (const [index, [, , code, says]] of wrong.entries()) {
        const error = errors[index] as VolantError
        assert.equal(error.code, code)
        assert.match(error.message, says)
      }
    })

    test('contexts of typed routes are taken, and no key is printed', () => {
      const cookie = make('a', { keys: [key] })
      const app = kit.app()
      app.post('/:id', { body: { type: 'object' } }, (ctx) => {
        cookie.set(ctx, ctx.params.id)
        cookie.clear(ctx)
        return { value: cookie.get(ctx) ?? null }
      })
      assert.doesNotMatch(inspect(cookie, { depth: 10, showHidden: true }), /of the cookies/)
      assert.equal(cookie.name, 'a')
    })
  })
}
