/** Guards that stand together: what they are in a document, and in front of procedures. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { VolantError } from 'volant'
import { openapiOf } from 'volant'
import {
  allowedHosts,
  cacheControl,
  httpsRedirect,
  ipRestriction,
  serverTiming,
  timeout,
  tooBusy,
  trailingSlash,
} from 'volant/middleware'
import { procedure } from 'volant/procedures'
import { Kit } from '../kit.ts'

const kit = new Kit()

describe('all of them', () => {
  test('routes behind them have their errors in the document, with their headers', async () => {
    const app = kit.app()
    app.use(tooBusy({ maxInFlight: 10 }))
    app.use(allowedHosts(['shop.example']))
    app.use(httpsRedirect({ allowedHosts: ['shop.example'] }))
    app.use('/admin', ipRestriction({ allow: ['loopback'] }))
    app.use(timeout(1_000))
    app.get('/books', () => 'x')
    app.get('/admin', () => 'x')
    const { paths } = await openapiOf(app, { info: { title: 'x', version: '1' } })
    const codesOf = (path: string): string[] =>
      [...JSON.stringify(paths?.[path]?.get).matchAll(/E_[A-Z_]+/g)].map(([code]) => code)
    const common = ['E_HANDLER_TIMEOUT', 'E_HOST_NOT_ALLOWED', 'E_HTTPS_REQUIRED', 'E_TOO_BUSY']
    assert.deepEqual([...new Set(codesOf('/books'))].toSorted(), common)
    assert.deepEqual([...new Set(codesOf('/admin'))].toSorted(), [...common, 'E_IP_DENIED'].toSorted())
    assert.match(JSON.stringify(paths?.['/books']), /Retry-After/)
  })

  test('passed without a call, each says how it is written', () => {
    for (const [make, how] of [
      [allowedHosts, "app.use(allowedHosts(['shop.example']))"],
      [cacheControl, 'app.use(cacheControl({ maxAge: 3_600 }))'],
      [httpsRedirect, "app.use(httpsRedirect({ allowedHosts: ['shop.example'] }))"],
      [ipRestriction, "app.use(ipRestriction({ allow: ['10.0.0.0/8'] }))"],
      [serverTiming, 'app.use(serverTiming())'],
      [timeout, 'app.use(timeout(5_000))'],
      [tooBusy, 'app.use(tooBusy())'],
      [trailingSlash, "app.use(trailingSlash('remove'))"],
    ] as const) {
      assert.throws(
        () => kit.app().use(make as never),
        (error: VolantError) => error.code === 'E_BAD_HANDLER' && error.message.includes(how),
        make.name,
      )
    }
  })

  test('procedures refuse them', () => {
    for (const guard of [
      allowedHosts(['a']),
      httpsRedirect({ allowedHosts: ['a'] }),
      ipRestriction({ allow: ['loopback'] }),
      timeout(1),
      tooBusy(),
      trailingSlash('add'),
    ]) {
      assert.throws(
        () => procedure().use(guard as never),
        /a guard of volant\/middleware belongs to an app or a scope/,
      )
    }
    for (const other of [cacheControl({ maxAge: 1 }), serverTiming({ enabled: true })])
      assert.throws(() => procedure().use(other as never), /belongs to an app or a scope/)
  })
})
