/** Security schemes that stop the start of an app. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { middleware, openapi, type OpenAPIDocument, type VolantError } from 'volant'
import { Kit } from '../kit.ts'

const info = { title: 'Test', version: '1.0.0' }

const kit = new Kit()

describe('openapi', () => {
  test('a security requirement of a scheme that nobody declares stops the start', async () => {
    const asking = (): ReturnType<Kit['app']> => {
      const app = kit.app()
      app.register(openapi, { info })
      app.get('/x', { security: [{ bearer: [] }] }, () => 'ok')
      return app
    }
    await assert.rejects(
      asking().inject('/x'),
      (error: VolantError) => error.code === 'E_BAD_OPTION' && error.message.includes('GET /x'),
    )
    const outer = kit.app()
    outer.use(middleware({ security: { bearer: { type: 'http', scheme: 'bearer' } } }, (_, next) => next()))
    outer.mount('/in', asking())
    const { components } = JSON.parse(
      (await outer.inject('/in/openapi.json')).body.toString(),
    ) as OpenAPIDocument
    assert.deepEqual(Object.keys(components.securitySchemes ?? {}), ['bearer'])
  })

  test('two groups with a document each may have a scheme of one name', async () => {
    const app = kit.app()
    for (const scheme of ['basic', 'bearer']) {
      app.group(`/${scheme}`, (group) => {
        group.register(openapi, { info, page: false })
        const guard = middleware({ security: { auth: { type: 'http', scheme } } }, (_, next) => next())
        group.get('/x', guard, () => 'ok')
      })
    }
    const { body } = await app.inject('/bearer/openapi.json')
    const { components } = JSON.parse(body.toString()) as OpenAPIDocument
    assert.deepEqual(components.securitySchemes, { auth: { type: 'http', scheme: 'bearer' } })
  })

  test('two security schemes of one name stop the start', async () => {
    const app = kit.app()
    app.register(openapi, { info })
    for (const scheme of ['basic', 'bearer']) {
      const guard = middleware({ security: { auth: { type: 'http', scheme } } }, (_, next) => next())
      app.get(`/${scheme}`, guard, () => 'ok')
    }
    await assert.rejects(
      app.inject('/basic'),
      (error: VolantError) => error.code === 'E_BAD_OPTION' && error.message.includes('GET /bearer'),
    )
  })
})
