import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Exchange, Limits } from '@volant/engine'
import { createApp, type ListenOptions } from 'volant'
import { resolveListen } from '../../src/app/listen-options.ts'
import { redirectingHost } from '../../src/app/redirect.ts'
import { resolveTls } from '../../src/tls/options.ts'
import { one, pair } from './kit.ts'

describe('listen', () => {
  const listenRefuses = (options: unknown, message: RegExp) =>
    assert.throws(() => resolveListen(options as ListenOptions), message)

  test('HTTP/2 comes with TLS, and alone where it is asked for', () => {
    assert.equal(resolveListen({ tls: pair(one) }).server.http2, true)
    assert.equal(resolveListen({ tls: pair(one) }).server.tls?.http2, true)
    assert.equal(resolveListen({ tls: pair(one), http2: false }).server.tls?.http2, false)
    assert.equal(resolveListen({ tls: pair(one), http2: false }).server.http2, undefined)
    assert.equal(resolveListen({ http2: true }).server.http2, true)
    assert.equal(resolveListen({}).server.http2, undefined)
    listenRefuses({ http2: 'h2c' }, /http2 takes true or false/)
  })

  test('names of other frameworks', () => {
    const app: [name: string, message: RegExp][] = [
      ['https', /TLS is given to app\.listen\(\{ tls: \{ cert, key \} \}\)/],
      ['tls', /TLS is given to app\.listen/],
      ['ssl', /TLS is given to app\.listen/],
      ['cert', /TLS is given to app\.listen/],
      ['key', /TLS is given to app\.listen/],
      ['http2', /it comes with app\.listen\(\{ tls \}\)/],
      ['http2SessionTimeout', /write limits: \{ http2IdleTimeout \}/],
      ['serverFactory', /its options are those of app\.listen/],
    ]
    for (const [name, message] of app)
      assert.throws(() => createApp({ [name]: {} }), { code: 'E_BAD_OPTION', message })
    listenRefuses({ https: {} }, /did you mean "tls"/)
    listenRefuses({ cert: 'x' }, /write tls: \{ cert, key \}/)
    listenRefuses({ http2SessionTimeout: 1 }, /http2IdleTimeout/)
  })

  test('redirectHttp', () => {
    const redirectHttp = { port: 80 }
    assert.deepEqual(resolveListen({ host: '::1', tls: pair(one), redirectHttp }).redirect, {
      port: 80,
      host: '::1',
    })
    listenRefuses({ redirectHttp }, /needs tls beside it/)
    listenRefuses({ tls: pair(one), redirectHttp: { port: '80' } }, /redirectHttp\.port takes an integer/)
    for (const given of [80, true, null])
      listenRefuses({ tls: pair(one), redirectHttp: given }, /redirectHttp takes \{ port: 80 \}, not /)
    listenRefuses({ tls: pair(one), redirectHttp: { port: 0 } }, /redirectHttp\.port .* from 1 to 65535/)
    listenRefuses(
      { port: 8443, tls: pair(one), redirectHttp: { port: 8443 } },
      /redirectHttp\.port is the port of the app itself: choose another, usually 80/,
    )
    const other = { port: 8443, host: '127.0.0.2' }
    assert.equal(resolveListen({ port: 8443, tls: pair(one), redirectHttp: other }).redirect?.port, 8443)
    listenRefuses({ tls: pair(one), redirectHttp: { port: 80, status: 301 } }, /keeps the method/)
    listenRefuses({ path: '/tmp/x', tls: pair(one), redirectHttp }, /socket file/)
  })

  test('the redirect says why it refuses a request', () => {
    const host = redirectingHost({} as Limits, 443, () => resolveTls(pair(one), true))
    const replyTo = (authority: string, path = '/') => {
      let reply: unknown[] = []
      const end = (...given: unknown[]) => void (reply = given)
      host.dispatch({ authority, path, query: '', end } as unknown as Exchange, 0, 0)
      return reply
    }
    assert.deepEqual(replyTo('one.example').slice(0, 3), [308, 0, ['Location', 'https://one.example/']])
    const [status, , , text] = replyTo('other.example')
    assert.deepEqual(
      [status, (JSON.parse(text as string) as { detail: string }).detail],
      [400, 'No certificate of this server is for the host of this request.'],
    )
    assert.match(replyTo('one.example', '*')[3] as string, /The target of this request is no path\./)
  })

  test('setTls needs an app that listens with tls', () => {
    assert.throws(() => createApp({ signals: false }).setTls(pair(one)), /does not listen with tls/)
  })
})
