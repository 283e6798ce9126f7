import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { App } from 'volant'
import { type ProtectedCookie, sealedCookie, signedCookie } from 'volant/session'
import type { Kit, Live } from '../kit.ts'

const oldKey = 'the old key of the cookies, 32 bytes and more'
const newKey = 'the new key of the cookies, 32 bytes and more'
const makers = { signedCookie, sealedCookie }

/** What clients can do to signed and encrypted cookies; their options are in `packages/volant/test/protected-cookies.test.ts`. */
export function cookies(kit: Kit): void {
  for (const [maker, make] of Object.entries(makers)) {
    describe(maker, () => {
      const cookie = make('a', { keys: [newKey, oldKey], maxAge: 60 })
      const [byNew, byOld] = [make('a', { keys: [newKey] }), make('a', { keys: [oldKey] })]
      const byOther = make('a', { keys: ['another key, which the server does not have'] })

      /** An app that has each cookie set, and says which value it reads. */
      const appOf = (...settable: ProtectedCookie[]): App => {
        const app = kit.app()
        app.get('/get', (ctx) => ({ value: cookie.get(ctx) ?? null }))
        app.get('/twice', (ctx) => {
          const values = [cookie.get(ctx), cookie.get(ctx)]
          cookie.set(ctx, 'last')
          return values
        })
        app.get('/clear', (ctx) => cookie.clear(ctx))
        for (const [index, each] of settable.entries()) {
          app.get(`/set/${index}`, (ctx) => {
            each.set(ctx, ctx.queryAll('value')[0] ?? '')
            return null
          })
        }
        return app
      }
      const pairOf = async (live: Live, index: number, value: string): Promise<string> => {
        const [set = ''] = setCookies(await live.ask(`/set/${index}?value=${encodeURIComponent(value)}`))
        return set.split(';')[0] as string
      }
      const read = async (live: Live, header: string, path = '/get'): Promise<unknown> => {
        const reply = await live.ask(path, { headers: { cookie: header } })
        assert.equal(reply.status, 200, header)
        return (reply.json() as { value: unknown }).value
      }

      test('a value comes back as it was set', async () => {
        await kit.serve(appOf(cookie), async (live) => {
          for (const value of [
            '',
            'x',
            'a.b.c',
            '{"user":"Ada"}',
            'Grüße, 𝄞; =,"\\ %41',
            'x'.repeat(1_000),
          ]) {
            const pair = await pairOf(live, 0, value)
            assert.match(pair, /^a=[\w.!~*'()%-]+$/)
            assert.equal(await read(live, pair), value)
            assert.equal(await read(live, `b=1; ${pair}; c=a=2`), value)
          }
          assert.equal(await read(live, 'b=1'), null)
        })
      })

      test('none is read that was changed, cut, or made by another key, for another name or purpose', async () => {
        const name = make('b', { keys: [newKey] })
        const purpose = maker === 'signedCookie' ? sealedCookie : signedCookie
        await kit.serve(appOf(byNew, byOther, name, purpose('a', { keys: [newKey] })), async (live) => {
          const pair = await pairOf(live, 0, 'value')
          const wrong = [1, 2, 3].map(async (index) =>
            (await pairOf(live, index, 'value')).replace('b=', 'a='),
          )
          for (const other of await Promise.all(wrong)) {
            assert.notEqual(other, pair)
            assert.equal(await read(live, other), null)
          }
          for (let at = 2; at < pair.length; at++) {
            const flipped = String.fromCharCode(pair.charCodeAt(at) ^ 1)
            assert.equal(await read(live, pair.slice(0, at) + flipped + pair.slice(at + 1)), null, `${at}`)
          }
          const parts = pair.slice(2).split('.')
          const hostile = ['a=', 'a', 'a=.', 'a=...', 'a=....', 'a=%', 'a=%ff.%', `a=${'.'.repeat(4_000)}`]
          hostile.push(pair.slice(0, -1), `${pair}A`, `${pair}.`, `${pair}=`, `a="${pair.slice(2)}"`)
          hostile.push(`a=${parts.slice(1).join('.')}`, `a=${parts.toReversed().join('.')}`)
          hostile.push(`a=${pair.slice(2).replace('v', '%76')}`, `A=${pair.slice(2)}`)
          for (const header of hostile) assert.equal(await read(live, header), null, header)
          assert.equal(await read(live, pair), 'value')
        })
      })

      test('of several cookies of the name the valid one is read, and of two valid ones none', async () => {
        await kit.serve(appOf(byNew, byOther), async (live) => {
          const [one, two, tossed] = await Promise.all([
            pairOf(live, 0, 'one'),
            pairOf(live, 0, 'two'),
            pairOf(live, 1, 'tossed'),
          ])
          assert.equal(await read(live, `${tossed}; ${one}; a=x`), 'one')
          assert.equal(await read(live, `${one}; ${one}`), 'one')
          assert.equal(await read(live, `${one}; ${two}`), null)
          assert.equal(await read(live, `${one}; a=1; a=2; a=3; a=4`), null)
        })
      })

      test('an older key is read, and replaced by the newest once', async () => {
        await kit.serve(appOf(byNew, byOld), async (live) => {
          const [pair, older] = [await pairOf(live, 0, 'value'), await pairOf(live, 1, 'value')]
          assert.deepEqual(setCookies(await live.ask('/get', { headers: { cookie: pair } })), [])
          const reply = await live.ask('/get', { headers: { cookie: older } })
          assert.deepEqual(reply.json(), { value: 'value' })
          const [set = '', ...more] = setCookies(reply)
          assert.deepEqual(more, [])
          // It had no end, and has none now.
          const secure = kit.scheme === 'https' ? ' Secure;' : ''
          assert.match(set, new RegExp(`^a=[^;]+; Path=/; HttpOnly;${secure} SameSite=Lax$`))
          const [replaced = ''] = set.split(';')
          const again = await live.ask('/get', { headers: { cookie: replaced } })
          assert.deepEqual([again.json(), setCookies(again)], [{ value: 'value' }, []])

          const twice = await live.ask('/twice', { headers: { cookie: older } })
          assert.deepEqual(twice.json(), ['value', 'value'])
          const [last = '', ...rest] = setCookies(twice)
          assert.deepEqual(rest, [])
          assert.equal(await read(live, last.split(';')[0] as string), 'last')
        })
      })

      test('a cookie is ended', async () => {
        await kit.serve(appOf(), async (live) => {
          const [set = ''] = setCookies(await live.ask('/clear'))
          assert.match(set, /^a=; Max-Age=0; /)
        })
      })

      test('a value that browsers would drop is an error, and no cookie is set', async () => {
        await kit.serve(appOf(cookie), async (live) => {
          for (const size of [4_090, 5_000]) {
            const reply = await live.ask(`/set/0?value=${'x'.repeat(size)}`)
            assert.deepEqual([reply.status, setCookies(reply)], [500, []])
          }
        })
      })
    })
  }
}

function setCookies(reply: { raw: [string, string][] }): string[] {
  return reply.raw.filter(([name]) => name.toLowerCase() === 'set-cookie').map(([, value]) => value)
}
