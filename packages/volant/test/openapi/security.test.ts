/** What operations say of the security of their routes. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { before, createApp, middleware, openapiOf, type VolantError } from 'volant'

const info = { title: 'Test', version: '1.0.0' }

describe('openapiOf', () => {
  test('two security schemes of one name are refused, with the route', () => {
    const guard = (scheme: string) =>
      middleware({ security: { auth: { type: 'http', scheme } } }, (_, next) => next())
    const app = createApp({ signals: false })
    app.get('/a', guard('basic'), () => 'ok')
    app.get('/b', guard('bearer'), () => 'ok')
    assert.throws(
      () => openapiOf(app, { info }),
      (error: VolantError) =>
        error.code === 'E_BAD_OPTION' && error.message.includes('"auth" of GET /b is not the one'),
    )
  })

  test('a scheme that nobody declares is refused; one of a middleware elsewhere is there', () => {
    const app = createApp({ signals: false })
    app.get('/a', { security: [{ key: [] }, { none: [] }] }, () => 'ok')
    const securitySchemes = { key: { type: 'apiKey', in: 'header', name: 'x-key' } }
    assert.throws(
      () => openapiOf(app, { info, securitySchemes }),
      (error: VolantError) =>
        error.code === 'E_BAD_OPTION' &&
        error.message.includes('of GET /a requires the scheme "none", which no middleware declares'),
    )
    assert.throws(() => openapiOf(createApp({ signals: false }), { info, security: [{ key: [] }] }), {
      message: /of the document requires the scheme "key"/,
    })
    const none = { type: 'http', scheme: 'bearer' }
    app.get(
      '/b',
      middleware({ security: { none } }, (_, next) => next()),
      () => 'ok',
    )
    const { components } = openapiOf(app, { info, securitySchemes, include: ({ path }) => path === '/a' })
    assert.deepEqual(components.securitySchemes, { ...securitySchemes, none })
  })

  test('the security of a route is all its middleware ask for, unless it says otherwise', () => {
    const need = (name: string) =>
      middleware({ security: { [name]: { type: 'http', scheme: name } } }, (_, next) => next())
    const app = createApp({ signals: false })
    app.use(need('basic'))
    app.get('/both', need('bearer'), () => 'ok')
    app.get('/open', { security: [] }, () => 'ok')
    app.get('/either', { security: [{ basic: [] }, { bearer: ['read'] }] }, need('bearer'), () => 'ok')
    const { paths, components } = openapiOf(app, { info })
    assert.deepEqual(paths['/both']?.['get']?.security, [{ basic: [], bearer: [] }])
    assert.deepEqual(paths['/open']?.['get']?.security, [])
    assert.deepEqual(paths['/either']?.['get']?.security, [{ basic: [] }, { bearer: ['read'] }])
    assert.deepEqual(Object.keys(components.securitySchemes ?? {}), ['basic', 'bearer'])
  })

  test('a middleware that takes either of two schemes asks for either, together with what others ask for', () => {
    const bearer = { type: 'http', scheme: 'bearer' }
    const cookie = { type: 'apiKey', in: 'cookie', name: 'session' }
    const key = { type: 'apiKey', in: 'header', name: 'x-key' }
    const session = before({ security: [{ bearer }, { cookie }] }, () => {})
    const app = createApp({ signals: false })
    const clerks = app.with(session)
    clerks.get('/either', () => 'ok')
    clerks.get(
      '/and-a-key',
      before({ security: { key } }, () => {}),
      () => 'ok',
    )
    clerks.get(
      '/and-one-of',
      before({ security: [{ cookie }, { key }] }, () => {}),
      () => 'ok',
    )
    clerks.get('/twice', session, () => 'ok')
    clerks.get(
      '/own',
      { security: [{ key: [] }] },
      before({ security: { key } }, () => {}),
      () => 'ok',
    )
    app.get(
      '/or-nobody',
      before({ security: [{ bearer }, {}] }, () => {}),
      () => 'ok',
    )
    app.get(
      '/nothing',
      before({ security: {} }, () => {}),
      () => 'ok',
    )
    const { paths, components } = openapiOf(app, { info })
    const asked = (path: string) => paths[path]?.['get']?.security
    assert.deepEqual(asked('/either'), [{ bearer: [] }, { cookie: [] }])
    assert.deepEqual(asked('/and-a-key'), [
      { bearer: [], key: [] },
      { cookie: [], key: [] },
    ])
    assert.deepEqual(asked('/and-one-of'), [
      { bearer: [], cookie: [] },
      { bearer: [], key: [] },
      { cookie: [] },
      { cookie: [], key: [] },
    ])
    assert.deepEqual(asked('/twice'), [{ bearer: [] }, { cookie: [] }])
    assert.deepEqual(asked('/own'), [{ key: [] }])
    assert.deepEqual(asked('/or-nobody'), [{ bearer: [] }, {}])
    assert.equal(asked('/nothing'), undefined)
    assert.deepEqual(components.securitySchemes, { bearer, cookie, key })
  })
})
