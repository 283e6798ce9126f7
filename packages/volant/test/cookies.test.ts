import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Context, CookieOptions, VolantError } from 'volant'
import { Kit } from './kit.ts'

const sent: [name: string, value: string, options: CookieOptions | undefined, expected: string][] = [
  ['a', 'b', undefined, 'a=b; Path=/; HttpOnly; SameSite=Lax'],
  ['a', '', undefined, 'a=; Path=/; HttpOnly; SameSite=Lax'],
  ['a', 'ü; x\r\n', undefined, 'a=%C3%BC%3B%20x%0D%0A; Path=/; HttpOnly; SameSite=Lax'],
  ['a', 'b', { httpOnly: false, sameSite: 'strict' }, 'a=b; Path=/; SameSite=Strict'],
  [
    'a',
    'b',
    { maxAge: 60, domain: 'example.com', path: '/x' },
    'a=b; Max-Age=60; Domain=example.com; Path=/x; HttpOnly; SameSite=Lax',
  ],
  [
    'a',
    'b',
    { expires: new Date(0) },
    'a=b; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; HttpOnly; SameSite=Lax',
  ],
  ['a', 'b', { secure: true }, 'a=b; Path=/; HttpOnly; Secure; SameSite=Lax'],
  ['a', 'b', { sameSite: 'none' }, 'a=b; Path=/; HttpOnly; Secure; SameSite=None'],
  [
    'a',
    'b',
    { partitioned: true, priority: 'high' },
    'a=b; Path=/; HttpOnly; Secure; Partitioned; Priority=High; SameSite=Lax',
  ],
  ['__Host-a', 'b', undefined, '__Host-a=b; Path=/; HttpOnly; Secure; SameSite=Lax'],
  ['__secure-a', 'b', { path: '/x' }, '__secure-a=b; Path=/x; HttpOnly; Secure; SameSite=Lax'],
]

const refused: [name: unknown, value: unknown, options: unknown, says: string][] = [
  ['', 'b', {}, 'name'],
  ['a b', 'b', {}, 'name'],
  ['a=b', 'b', {}, 'name'],
  ['a;b', 'b', {}, 'name'],
  ['a\r\nb', 'b', {}, 'name'],
  ['ü', 'b', {}, 'name'],
  [5, 'b', {}, 'name'],
  ['a', 5, {}, 'string'],
  ['a', null, {}, 'null'],
  ['a', '\ud800', {}, 'cannot be set'],
  ['a', 'x'.repeat(4_096), {}, '4096'],
  ['a', 'b', null, 'object'],
  ['a', 'b', { maxage: 1 }, 'maxage'],
  ['a', 'b', { encode: String }, 'encode'],
  ['a', 'b', { maxAge: 1.5 }, 'maxAge'],
  ['a', 'b', { maxAge: '1' }, 'maxAge'],
  ['a', 'b', { expires: new Date(NaN) }, 'expires'],
  ['a', 'b', { expires: 5 }, 'expires'],
  ['a', 'b', { domain: 'a;b' }, 'domain'],
  ['a', 'b', { path: 'x' }, 'path'],
  ['a', 'b', { path: '/x;y' }, 'path'],
  ['a', 'b', { path: '/x\r\n' }, 'path'],
  ['a', 'b', { sameSite: true }, 'sameSite'],
  ['a', 'b', { sameSite: 'Lax' }, 'sameSite'],
  ['a', 'b', { httpOnly: 'yes' }, 'httpOnly'],
  ['a', 'b', { priority: 'urgent' }, 'priority'],
  ['a', 'b', { sameSite: 'none', secure: false }, 'secure'],
  ['a', 'b', { partitioned: true, secure: false }, 'secure'],
  ['__Host-a', 'b', { secure: false }, 'secure'],
  ['__Secure-a', 'b', { secure: false }, 'secure'],
  ['__Host-a', 'b', { path: '/x' }, '__Host-'],
  ['__HOST-a', 'b', { domain: 'example.com' }, '__Host-'],
]

const kit = new Kit()

describe('cookies', () => {
  test('are set as their options say', async () => {
    const app = kit.app()
    sent.forEach(([name, value, options], index) =>
      app.get(`/${index}`, (ctx) => ctx.cookie(name, value, options).text('')),
    )
    await kit.serve(app, async (live) => {
      for (const [index, [, , , expected]] of sent.entries()) {
        assert.equal((await live.ask(`/${index}`)).headers['set-cookie'], expected)
      }
    })
  })

  test('are ended with the path and domain they have', async () => {
    const app = kit.app()
    app.get('/x', (ctx) =>
      ctx.clearCookie('a').clearCookie('__Secure-b', { path: '/y', domain: 'example.com' }).text(''),
    )
    await kit.serve(app, async (live) => {
      assert.deepEqual((await live.ask('/x')).setCookies, [
        'a=; Max-Age=0; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; HttpOnly; SameSite=Lax',
        '__Secure-b=; Max-Age=0; Domain=example.com; Path=/y; Expires=Thu, 01 Jan 1970 00:00:00 GMT; HttpOnly; Secure; SameSite=Lax',
      ])
    })
  })

  test('are secure where a trusted proxy speaks TLS', async () => {
    const app = kit.app({ trustProxy: 'loopback' })
    app.get('/x', (ctx) => ctx.cookie('a', 'b').text(''))
    app.get('/y', (ctx) => ctx.cookie('a', 'b', { secure: false }).text(''))
    await kit.serve(app, async (live) => {
      const headers = { 'x-forwarded-proto': 'https' }
      assert.match((await live.ask('/x', { headers })).headers['set-cookie'] ?? '', /; Secure/)
      assert.doesNotMatch((await live.ask('/y', { headers })).headers['set-cookie'] ?? '', /; Secure/)
      assert.doesNotMatch((await live.ask('/x')).headers['set-cookie'] ?? '', /; Secure/)
    })
  })

  test('are secure where the connection is encrypted', async () => {
    for (const trustProxy of [false, '10.0.0.1', 'unix']) {
      const app = kit.app({ trustProxy })
      app.get('/x', (ctx) => ctx.cookie('a', 'b').clearCookie('c').text(ctx.protocol))
      const ask = async (origin: string, headers: Record<string, string> = {}) => {
        const reply = await app.fetch(new Request(`${origin}/x`, { headers }))
        const secure = reply.headers.getSetCookie().map((cookie) => cookie.includes('; Secure'))
        return [await reply.text(), ...secure]
      }
      assert.deepEqual(await ask('https://app.example'), ['https', true, true])
      assert.deepEqual(await ask('http://app.example'), ['http', false, false])
      // A trusted proxy may be asked by http and ask by https, so its word stands above the connection's.
      const said = trustProxy === 'unix' ? 'http' : 'https'
      const proxied = await ask('https://app.example', { 'x-forwarded-proto': 'http' })
      assert.deepEqual(proxied, [said, said === 'https', said === 'https'])
      await app.close()
    }
  })

  test('come back as they were set', async () => {
    const app = kit.app()
    app.get('/set', (ctx) => ctx.cookie('a', 'ü; "x"').cookie('b', '100%').text(''))
    app.get('/get', (ctx) => ctx.cookies)
    await kit.serve(app, async (live) => {
      const { setCookies } = await live.ask('/set')
      const pairs = setCookies.map((value) => value.split(';')[0])
      const reply = await live.ask('/get', { headers: { cookie: pairs.join('; ') } })
      assert.deepEqual(reply.json(), { a: 'ü; "x"', b: '100%' })
    })
  })

  test('stay when the handler fails after', async () => {
    const app = kit.app()
    app.get('/x', (ctx) => {
      ctx.cookie('a', 'b')
      throw new Error('late')
    })
    await kit.serve(app, async (live) => {
      const reply = await live.ask('/x')
      assert.equal(reply.status, 500)
      assert.match(reply.headers['set-cookie'] ?? '', /^a=b;/)
    })
  })

  test('names, values and options that are none are refused', async () => {
    const app = kit.app()
    let row = refused[0] as (typeof refused)[number]
    app.get('/x', (ctx: Context) =>
      ctx.cookie(row[0] as string, row[1] as string, row[2] as CookieOptions).text(''),
    )
    await kit.serve(app, async (live) => {
      for (row of refused) {
        const reply = await live.ask('/x')
        const error = kit.reports.pop() as VolantError
        assert.equal(reply.status, 500, JSON.stringify(row))
        assert.equal(reply.headers['set-cookie'], undefined)
        assert.equal(error.code, 'E_BAD_COOKIE', JSON.stringify(row))
        assert.ok(error.message.includes(row[3]), error.message)
      }
    })
  })
})
