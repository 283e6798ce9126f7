/** What a session holds, and when it can be changed. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { inspect } from 'node:util'
import { HTTPError } from 'volant'
import { session } from 'volant/session'
import { Browser, kinds, kit, shop } from './kit.ts'

for (const [kind, options] of kinds) {
  describe(`session, ${kind}`, () => {
    test('what is not JSON is refused by name', async () => {
      const cycle: unknown[] = []
      cycle.push(cycle)
      const values: [unknown, RegExp][] = [
        [undefined, /cart is undefined: delete\(key\) forgets a value/],
        [() => 1, /cart is a function/],
        [1n, /cart is a bigint/],
        [Symbol('x'), /cart is a symbol/],
        [NaN, /cart is NaN/],
        [[1, undefined], /cart\[1\] is undefined/],
        [{ at: new Date(0) }, /cart\.at is an object of Date/],
        [new Map(), /cart is an object of Map/],
        [cycle, /nested more than 100 deep/],
        [JSON.parse('{"__proto__":{"admin":true}}'), /cart\.__proto__ is a member/],
      ]
      let at = 0
      const messages: unknown[] = []
      const app = shop(options(), (scope) =>
        scope.post('/bad', (ctx) => {
          try {
            ctx.state.session.set('cart', values[at]?.[0] as never)
          } catch (error) {
            messages.push(error)
          }
          return 'x'
        }),
      )
      for (; at < values.length; at++) {
        await new Browser(app).text('/bad', 'POST')
        assert.match(String(messages[at]), (values[at] as [unknown, RegExp])[1])
        assert.equal((messages[at] as { code: string }).code, 'E_NOT_SERIALISABLE')
      }
    })

    test('keys such as __proto__ and constructor are keys like others', async () => {
      const app = kit.app()
      const scope = app.with(session<Record<string, string>>(options()))
      scope.post('/:key', (ctx) => {
        ctx.state.session.set(ctx.params.key, 'x')
        return 'set'
      })
      scope.get('/:key', (ctx) => ctx.state.session.get(ctx.params.key) ?? 'none')
      const browser = new Browser(app)
      await browser.text('/other', 'POST')
      for (const name of ['__proto__', 'constructor', 'toString']) {
        assert.equal(await browser.text(`/${name}`), 'none')
        await browser.text(`/${name}`, 'POST')
        assert.equal(await browser.text(`/${name}`), 'x')
      }
      assert.equal(({} as { x?: unknown }).x, undefined)
    })

    test('values are frozen, so that no change is lost', async () => {
      const app = shop(options(), (scope) => {
        scope.post('/note', (ctx) => {
          ctx.state.session.set('note', { text: 'a' })
          return 'x'
        })
        scope.post('/change', (ctx) => {
          const note = ctx.state.session.get('note') as { text: string }
          assert.throws(() => {
            note.text = 'b'
          }, TypeError)
          return note.text
        })
      })
      const browser = new Browser(app)
      await browser.text('/note', 'POST')
      assert.equal(await browser.text('/change', 'POST'), 'a')
    })

    test('a change after the reply has left throws', async () => {
      const late: unknown[] = []
      const app = shop(options(), (scope) => {
        scope.get('/replied', (ctx) => {
          ctx.text('x')
          try {
            ctx.state.session.set('user', 'late')
          } catch (error) {
            late.push(error)
          }
        })
        scope.get('/stream', (ctx) =>
          ctx.stream(
            (async function* () {
              yield 'x'
              try {
                ctx.state.session.signOut()
              } catch (error) {
                late.push(error)
              }
            })(),
          ),
        )
      })
      const browser = new Browser(app)
      await browser.text('/replied')
      await browser.text('/stream')
      assert.equal(late.length, 2)
      for (const error of late) assert.match(inspect(error), /E_SESSION_LATE/)
      assert.equal(browser.cookies.size, 0)
    })

    test('what a handler changed before it failed is kept', async () => {
      const app = shop(options(), (scope) =>
        scope.post('/fail', (ctx) => {
          ctx.state.session.set('note', { text: 'tried' })
          throw new HTTPError(422)
        }),
      )
      const browser = new Browser(app)
      assert.equal((await browser.ask('/fail', 'POST')).status, 422)
      assert.equal(await browser.text('/new'), 'false')
    })
  })
}
