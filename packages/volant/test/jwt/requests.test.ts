import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { inspect } from 'node:util'
import { openapiOf } from 'volant'
import { anyOf, apiKey } from 'volant/auth'
import { jwk, jwt, signJwt } from 'volant/jwt'
import { ask, base, guarded, kit, refuses, secret, signing } from './kit.ts'

describe('jwt', () => {
  test('a cookie may have the token; two of one name are 400', async () => {
    const app = guarded({ ...base, cookie: 'token' })
    const token = await signJwt({}, signing)
    const by = async (headers: Record<string, string>) => {
      const reply = await app.inject({ url: '/me', headers })
      return [reply.status, reply.headers['www-authenticate']]
    }
    assert.deepEqual(await by({ cookie: `token=${token}` }), [200, undefined])
    assert.deepEqual(await by({ cookie: 'token=x' }), [401, 'Bearer error="invalid_token"'])
    assert.deepEqual(await by({ cookie: `token=${token}; token=x` }), [400, 'Bearer'])
    assert.deepEqual(await by({}), [401, 'Bearer'])
    assert.deepEqual(await by({ authorization: 'Bearer x', cookie: `token=${token}` }), [200, undefined])
  })

  test('required: false lets requests without a token pass, and refuses wrong ones', async () => {
    const app = guarded({ ...base, required: false })
    assert.deepEqual((await ask(app, null)).body, { user: null })
    await refuses(app, 'x')
  })

  test('anyOf has a token or a key, and the document of the API has both', async () => {
    const app = kit.app()
    const either = anyOf(
      jwt({ ...base, cookie: 'token' }),
      apiKey({ in: 'header', name: 'x-api-key', keys: { shop: 'k'.repeat(32) } }),
    )
    app.with(either).get('/me', (ctx) => ctx.state.auth.scheme)
    const byToken = await app.inject({
      url: '/me',
      headers: { authorization: `Bearer ${await signJwt({}, signing)}` },
    })
    const byKey = await app.inject({ url: '/me', headers: { 'x-api-key': 'k'.repeat(32) } })
    assert.deepEqual([byToken.text(), byKey.text()], ['jwt', 'apiKey'])
    const { components, paths } = openapiOf(app, { info: { title: 'x', version: '1' } })
    assert.deepEqual(components?.securitySchemes, {
      jwt: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
      jwtCookie: { type: 'apiKey', in: 'cookie', name: 'token' },
      apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
    })
    assert.deepEqual(paths?.['/me']?.['get']?.security, [{ jwt: [] }, { jwtCookie: [] }, { apiKey: [] }])
  })

  test('neither replies nor errors show a token, a secret or a claim', async () => {
    const errors: unknown[] = []
    const app = kit.app()
    app.onError((error) => {
      errors.push(error)
    })
    app.with(jwt({ ...base, issuer: 'https://a.example' })).get('/me', () => 'x')
    const token = await signJwt({ sub: 'hidden-subject' }, { ...signing, issuer: 'https://hidden.example' })
    const { body, challenge } = await ask(app, token)
    const [error] = errors as [Error]
    assert.equal(error.cause, 'The issuer of the token is not issuer')
    const shown = inspect(error, { depth: 9, showHidden: true }) + JSON.stringify(body) + challenge
    for (const part of [secret, 'hidden', ...token.split('.')]) assert.ok(!shown.includes(part), part)
    const bad = (options: object) =>
      assert.throws(
        () => jwt(options as never),
        (thrown: Error) => !inspect(thrown).includes(secret),
      )
    bad({ ...base, issuer: 7 })
    bad({ secret: secret.slice(0, 20), algorithms: ['HS256'] })
    bad({ key: secret, algorithms: ['RS256'] })
  })
})

test('a jwk declares that the key set may be out of reach', () => {
  const app = kit.app()
  const url = 'https://id.example/keys'
  app
    .with(jwk({ url, algorithms: ['RS256'], issuer: 'https://id.example', audience: 'api' }))
    .get('/me', () => 'x')
  const { paths } = openapiOf(app, { info: { title: 'x', version: '1' } })
  const responses = (paths?.['/me']?.['get']?.responses ?? {}) as Record<string, { headers?: object }>
  assert.deepEqual(Object.keys(responses), ['400', '401', '503', '2XX'])
  assert.ok('Retry-After' in (responses['503']?.headers ?? {}))
})
