import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createSecretKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import { type App, openapiOf } from 'volant'
import { anyOf, apiKey, requireRole, requireScope } from 'volant/auth'
import { jwk, jwt, type JwtClaims, type JwtError, signJwt, verifyJwt } from 'volant/jwt'
import { z } from 'zod'
import { Kit } from './kit.ts'

const kit = new Kit()

const secret = 'correct horse battery staple, and more'
const other = 'another secret, which is as long as that'
const base = { secret, algorithms: ['HS256'] } as const
const signing = { secret, algorithm: 'HS256', expiresIn: '15 minutes' } as const
const now = () => Math.floor(Date.now() / 1_000)

const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 })
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const ed = generateKeyPairSync('ed25519')

/** An app whose only route says who asks. */
function guarded(...options: Parameters<typeof jwt>): App {
  const app = kit.app()
  app.with(jwt(...options)).get('/me', (ctx) => ({ user: ctx.state.user as unknown }))
  return app
}

async function ask(app: App, token: string | null, url = '/me') {
  const headers = token === null ? {} : { authorization: `Bearer ${token}` }
  const reply = await app.inject({ url, headers })
  return { status: reply.status, challenge: reply.headers['www-authenticate'], body: reply.json() as never }
}

const refused = { status: 401, challenge: 'Bearer error="invalid_token"' }
async function refuses(app: App, token: string): Promise<void> {
  const { status, challenge, body } = await ask(app, token)
  assert.deepEqual({ status, challenge }, refused)
  assert.equal((body as { detail: string }).detail, 'The token is not valid')
}

describe('jwt', () => {
  test('a token that is good passes with its claims, none is 401 without an error', async () => {
    const app = guarded(base)
    const { status, body } = await ask(app, await signJwt({ sub: 'ada', admin: true }, signing))
    assert.equal(status, 200)
    const { user } = body as { user: Record<string, unknown> }
    assert.deepEqual([user['sub'], user['admin']], ['ada', true])
    assert.equal((user['exp'] as number) - (user['iat'] as number), 900)
    const without = await ask(app, null)
    assert.deepEqual([without.status, without.challenge], [401, 'Bearer'])
  })

  test('tokens of other secrets, schemes and forms are refused', async () => {
    const app = guarded(base)
    const good = await signJwt({}, signing)
    const [head = '', payload = '', mac = ''] = good.split('.')
    const none = (alg: string) => Buffer.from(JSON.stringify({ alg })).toString('base64url')
    for (const token of [
      await signJwt({}, { ...signing, secret: other }),
      ...['none', 'None', 'NONE', 'nOnE'].flatMap((alg) => [
        `${none(alg)}.${payload}.`,
        `${none(alg)}.${payload}.${mac}`,
      ]),
      `${head}.${payload}.`,
      `${head}.${payload}`,
      `${good}.`,
      `${head}.${payload}.${mac.slice(1)}`,
      `${payload}.${head}.${mac}`,
      'x',
      '..',
    ]) {
      await refuses(app, token)
    }
    for (const scheme of ['Token', 'JWT', 'Basic', 'bearertoken']) {
      const { status } = await app.inject({ url: '/me', headers: { authorization: `${scheme} ${good}` } })
      assert.equal(status, 401, scheme)
    }
    assert.equal(kit.reports.length, 0)
  })

  test('a public key is no secret, and an algorithm of the header decides nothing', async () => {
    const pem = rsa.publicKey.export({ format: 'pem', type: 'spki' })
    const app = guarded({ key: pem, algorithms: ['RS256'] })
    const forged = await signJwt(
      {},
      { ...signing, secret: Buffer.from(pem).toString('latin1').replaceAll('-----', '=====') },
    )
    await refuses(app, forged)
    await refuses(app, await signJwt({}, { key: rsa.privateKey, algorithm: 'PS256', expiresIn: 60 }))
    assert.equal(
      (await ask(app, await signJwt({}, { key: rsa.privateKey, algorithm: 'RS256', expiresIn: 60 }))).status,
      200,
    )
  })

  test('every algorithm signs what it verifies', async () => {
    const keys: readonly (readonly [string, { publicKey: KeyObject; privateKey: KeyObject }])[] = [
      ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'].map((name) => [name, rsa] as const),
      ['ES256', ec],
      ['ES384', generateKeyPairSync('ec', { namedCurve: 'P-384' })],
      ['ES512', generateKeyPairSync('ec', { namedCurve: 'P-521' })],
      ['EdDSA', ed],
      ['Ed25519', ed],
    ]
    for (const [algorithm, { publicKey, privateKey }] of keys) {
      const token = await signJwt({ sub: 'ada' }, { key: privateKey, algorithm, expiresIn: 60 } as never)
      for (const key of [
        publicKey,
        publicKey.export({ format: 'jwk' }),
        publicKey.export({ format: 'pem', type: 'spki' }),
      ]) {
        assert.equal(
          (await verifyJwt(token, { key, algorithms: [algorithm] } as never)).sub,
          'ada',
          algorithm,
        )
      }
    }
    const long = createSecretKey(Buffer.alloc(64, 7))
    for (const algorithm of ['HS256', 'HS384', 'HS512'] as const) {
      const token = await signJwt({ sub: 'ada' }, { secret: long, algorithm, expiresIn: 60 })
      assert.equal((await verifyJwt(token, { secret: long, algorithms: [algorithm] })).sub, 'ada')
      await assert.rejects(verifyJwt(token, base), { name: 'JwtError', status: 401 })
    }
  })

  test('secrets and keys rotate: the newest signs, all verify', async () => {
    const old = await signJwt({}, { ...signing, secret: other })
    assert.equal((await ask(guarded({ ...base, secret: [secret, other] }), old)).status, 200)
    const second = generateKeyPairSync('ed25519')
    const app = guarded({ key: [ed.publicKey, second.publicKey], algorithms: ['EdDSA'] })
    for (const { privateKey } of [ed, second]) {
      assert.equal(
        (await ask(app, await signJwt({}, { key: privateKey, algorithm: 'EdDSA', expiresIn: 60 }))).status,
        200,
      )
    }
  })

  test('times: expired says so, others do not', async (t) => {
    const wall = Date.now()
    t.mock.method(Date, 'now', () => wall)
    const app = guarded(base)
    const tokenOf = (claims: object) => signJwt(claims, { secret, algorithm: 'HS256', expiresIn: false })
    const expired = await ask(app, await tokenOf({ exp: now() - 6 }))
    assert.deepEqual(
      [expired.status, expired.challenge, (expired.body as { detail: string }).detail],
      [
        401,
        'Bearer error="invalid_token", error_description="The token has expired"',
        'The token has expired',
      ],
    )
    assert.equal((await ask(app, await tokenOf({ exp: now() - 3 }))).status, 200)
    assert.equal(
      (await ask(app, await tokenOf({ exp: now() + 60, nbf: now() + 3, iat: now() + 3 }))).status,
      200,
    )
    for (const claims of [{}, { exp: now() + 60, nbf: now() + 30 }, { exp: now() + 60, iat: now() + 30 }]) {
      await refuses(app, await tokenOf(claims))
    }
    const exact = { ...base, clockTolerance: 0 }
    assert.equal((await ask(guarded(exact), await tokenOf({ exp: now() - 1 }))).status, 401)
    assert.equal((await ask(guarded({ ...base, requireExpiration: false }), await tokenOf({}))).status, 200)
    const aged = guarded({ ...base, maxTokenAge: '1 hour', requireExpiration: false })
    assert.equal((await ask(aged, await tokenOf({ iat: now() - 3_000 }))).status, 200)
    await refuses(aged, await tokenOf({ iat: now() - 4_000 }))
  })

  test('issuer, audience, subject, type and required claims', async () => {
    const app = guarded({
      ...base,
      issuer: ['https://a.example', 'https://b.example'],
      audience: 'api',
      subject: 'ada',
      typ: 'at+jwt',
      requiredClaims: ['jti'],
    })
    const good = {
      issuer: 'https://b.example',
      audience: ['web', 'api'],
      subject: 'ada',
      typ: 'AT+JWT',
      jwtId: '1',
    }
    assert.equal((await ask(app, await signJwt({}, { ...signing, ...good }))).status, 200)
    for (const wrong of [
      { issuer: 'https://c.example' },
      { issuer: undefined },
      { audience: 'web' },
      { audience: undefined },
      { subject: 'eve' },
      { typ: 'JWT' },
      { jwtId: undefined },
    ]) {
      await refuses(app, await signJwt({}, { ...signing, ...good, ...wrong }))
    }
    await refuses(app, await signJwt({ aud: [['api']] }, { ...signing, ...good, audience: undefined }))
  })

  test('a schema, and verify, decide on the claims', async () => {
    const schema = z.object({ sub: z.string(), level: z.number() })
    const users = new Map([['ada', { name: 'Ada', roles: ['admin'] }]])
    const app = kit.app()
    app
      .with(jwt({ ...base, schema, verify: ({ sub, level }) => (level > 1 ? users.get(sub) : null) }))
      .with(requireRole('admin'))
      .with(requireScope('read'))
      .get('/me', (ctx) => {
        const name: string = ctx.state.user.name
        const level: number = ctx.state.auth.claims.level
        return { name, level, claims: Object.keys(ctx.state.auth.claims) }
      })
    const passed = await ask(app, await signJwt({ sub: 'ada', level: 2, scope: 'read' }, signing))
    assert.deepEqual([passed.status, passed.body], [200, { name: 'Ada', level: 2, claims: ['sub', 'level'] }])
    for (const claims of [{ sub: 'ada' }, { sub: 'ada', level: 1 }, { sub: 'eve', level: 2 }]) {
      await refuses(app, await signJwt(claims, signing))
    }
    const later = kit.app()
    later
      .with(
        jwt({ ...base, schema: schema.refine(() => Promise.resolve(true)), verify: async ({ sub }) => sub }),
      )
      .get('/me', (ctx) => ctx.state.user)
    const token = await signJwt({ sub: 'ada', level: 1 }, signing)
    assert.equal(
      (await later.inject({ url: '/me', headers: { authorization: `Bearer ${token}` } })).text(),
      'ada',
    )
  })

  test('scope and scp are scopes, roles are roles', async () => {
    const app = kit.app()
    const scope = app.with(jwt(base))
    scope.with(requireScope('write')).get('/write', () => 'ok')
    scope.with(requireRole('admin')).get('/admin', () => 'ok')
    for (const [claims, write, admin] of [
      [{ scope: 'read write' }, 200, 403],
      [{ scp: ['read', 'write'], role: 'admin' }, 200, 200],
      [{ scp: 'write' }, 200, 403],
      [{ scope: 'rewrite', roles: ['user', 'admin'] }, 403, 200],
      [{ scope: 7, scp: [7, null], roles: {} }, 403, 403],
      [{ role: 'store admin' }, 403, 403],
      [{ roles: 'not admin' }, 403, 403],
      [{}, 403, 403],
    ] as const) {
      const headers = { authorization: `Bearer ${await signJwt(claims, signing)}` }
      assert.equal((await app.inject({ url: '/write', headers })).status, write)
      assert.equal((await app.inject({ url: '/admin', headers })).status, admin)
    }
  })

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

describe('options of jwt, jwk, signJwt and verifyJwt', () => {
  const throws = (options: object, message: RegExp): void =>
    assert.throws(() => jwt(options as never), { code: 'E_BAD_OPTION', message })

  test('secrets', () => {
    for (const [given, message] of [
      [undefined, /neither: is its environment variable set\?/],
      ['', /is 0 bytes long, and HS256 needs 32/],
      ['x'.repeat(31), /is 31 bytes long.*openssl rand/],
      [[], /takes one, or a list/],
      [[secret, 'short'], /is 5 bytes long/],
      [7, /takes a text, bytes or a KeyObject, not number/],
      [rsa.publicKey, /is a public key: write it as key/],
      [rsa.publicKey.export({ format: 'pem', type: 'spki' }), /is a key in PEM: write it as key/],
    ] as const) {
      throws({ secret: given, algorithms: ['HS256'] }, message)
    }
    throws({ ...base, algorithms: ['HS256', 'HS512'] }, /HS256, HS512 needs 64/)
    for (const good of [secret, Buffer.from(secret), createSecretKey(Buffer.from(secret)), 'ü'.repeat(16)]) {
      jwt({ secret: good, algorithms: ['HS256'] })
    }
  })

  test('algorithms', () => {
    for (const [given, message] of [
      [undefined, /algorithms takes a list/],
      [[], /algorithms takes a list/],
      ['HS256', /algorithms takes a list/],
      [['hs256'], /algorithms takes a list.*not "hs256"/],
      [['none'], /"none" has no signature/],
      [['NONE'], /"none" has no signature/],
      [['HS256', 'RS256'], /RS256 needs a public key, and there is a secret/],
    ] as const) {
      throws({ secret, algorithms: given }, message)
    }
    throws(
      { key: rsa.publicKey, algorithms: ['RS256', 'HS256'] },
      /HS256 would take a public key, which everybody may know, as its secret/,
    )
  })

  test('keys', () => {
    const weak = generateKeyPairSync('rsa', { modulusLength: 1_024 }).publicKey
    const jwkOf = (more: object) => ({ ...rsa.publicKey.export({ format: 'jwk' }), ...more })
    for (const [key, message] of [
      [rsa.privateKey, /is a private key: give its public half/],
      [rsa.privateKey.export({ format: 'pem', type: 'pkcs8' }), /is a private key/],
      [rsa.privateKey.export({ format: 'jwk' }), /is a private key/],
      [createSecretKey(Buffer.alloc(32)), /is a secret key: write it as secret/],
      [{ kty: 'oct', k: 'AAAA' }, /its type is oct, which is a secret/],
      [ec.publicKey, /has a key of the type ec \(prime256v1\), for which none of RS256 is/],
      [weak, /has 1024 bits, and RSA needs 2048/],
      ['no key', /cannot be read as a public key/],
      [7, /takes PEM text, a JSON Web Key, a KeyObject or a CryptoKey, not number/],
      [jwkOf({ alg: 'RS512' }), /has the "alg" "RS512", which is none of RS256/],
      [jwkOf({ use: 'enc' }), /is not for signatures/],
      [jwkOf({ key_ops: ['encrypt'] }), /is not for signatures/],
    ] as const) {
      throws({ key, algorithms: ['RS256'] }, message)
    }
    throws({ key: rsa.publicKey, algorithms: ['RS256', 'ES256'] }, /has no key for ES256/)
    throws({ secret, key: rsa.publicKey, algorithms: ['RS256'] }, /secret and key are both given/)
  })

  test('the others, and the names that other libraries have', () => {
    for (const [options, message] of [
      [{ issuer: '' }, /issuer takes a text/],
      [{ issuer: [] }, /issuer takes a text/],
      [{ audience: [7] }, /audience takes a text/],
      [{ clockTolerance: -1 }, /clockTolerance takes seconds from 0 to 300/],
      [{ clockTolerance: '5 s' }, /clockTolerance takes seconds/],
      [{ maxTokenAge: '1 fortnight' }, /maxTokenAge takes whole seconds/],
      [{ maxTokenSize: 10 }, /maxTokenSize takes a number of characters/],
      [{ requiredClaims: 'sub' }, /requiredClaims takes a list/],
      [{ requireExpiration: 1 }, /requireExpiration takes true or false/],
      [{ cookie: 'a b' }, /cookie takes the name of a cookie/],
      [{ verify: { allowedIss: 'x' } }, /verify takes a function.*issuer/],
      [{ sign: {} }, /no option "sign": signJwt/],
      [{ allowedIss: 'x' }, /did you mean "issuer"/],
      [{ credentialsRequired: false }, /did you mean "required"/],
      [{ isRevoked: () => {} }, /did you mean "verify"/],
    ] as const) {
      throws({ ...base, ...options }, message)
    }
  })

  test('jwk', () => {
    const bad = (options: object, message: RegExp): void =>
      assert.throws(
        () => jwk({ algorithms: ['RS256'], issuer: false, audience: false, ...options } as never),
        { code: 'E_BAD_OPTION', message },
      )
    const url = 'https://id.example/keys'
    const key = rsa.publicKey.export({ format: 'jwk' })
    for (const [options, message] of [
      [{}, /takes url or jwks, and there is neither/],
      [{ url, jwks: { keys: [key] } }, /both given/],
      [{ url: 'http://id.example/keys' }, /begins with http:.*use https/],
      [{ url: 'file:///etc/keys' }, /begins with file:/],
      [{ url: 'http://127.0.0.1.example/keys' }, /use https/],
      [{ url: 'https://u:p@id.example/keys' }, /name or password/],
      [{ url: 'keys' }, /the address of a key set/],
      [{ url, issuer: undefined }, /issuer takes the issuer/],
      [{ url, audience: undefined }, /audience takes the audience/],
      [{ url, algorithms: ['HS256'] }, /HS256 would take a public key/],
      [{ url, timeout: 0 }, /timeout takes 1 ms to 1 minute/],
      [{ url, cooldown: 5 }, /cooldown takes 1 second/],
      [{ jwks: { keys: [key] }, timeout: 5 }, /timeout is for url/],
      [{ jwks: {} }, /jwks takes a key set/],
      [{ jwks: { keys: [] } }, /jwks has no public key for RS256/],
      [
        {
          jwks: {
            keys: [
              { ...key, use: 'enc' },
              { kty: 'oct', k: 'AAAA' },
            ],
          },
        },
        /jwks has no public key/,
      ],
      [{ jwks: { keys: [{ kty: 'RSA' }] } }, /jwks has no public key/],
      [{ url, jwksUri: url }, /did you mean "url"/],
    ] as const) {
      bad(options, message)
    }
    for (const good of [url, new URL(url), 'http://localhost:1/', 'http://127.0.0.1:1/', 'http://[::1]:1/']) {
      jwk({ url: good, algorithms: ['RS256'], issuer: false, audience: false })
    }
    jwk({ url: 'http://id.example/', allowHttp: true, algorithms: ['RS256'], issuer: false, audience: false })
  })

  test('signJwt', async () => {
    const rejects = (claims: unknown, options: object, message: RegExp) =>
      assert.rejects(signJwt(claims as object, options as never), { code: 'E_BAD_OPTION', message })
    await rejects({}, { secret, algorithm: 'HS256' }, /expiresIn takes the time/)
    await rejects({}, { ...signing, secret: 'short' }, /signJwt: secret is 5 bytes long/)
    await rejects({}, { ...signing, algorithm: 'none' }, /no signature/)
    await rejects({}, { ...signing, algorithm: undefined }, /algorithm takes/)
    await rejects({}, { ...signing, expiresIn: '900000' }, /expiresIn takes whole seconds/)
    await rejects({ exp: 1 }, signing, /expiresIn is given, and the claims have exp/)
    await rejects({ nbf: 'soon' }, signing, /claims.nbf takes a number/)
    await rejects([], signing, /claims takes an object/)
    await rejects({}, { ...signing, key: rsa.privateKey }, /neither or both/)
    await rejects(
      {},
      { key: rsa.publicKey, algorithm: 'RS256', expiresIn: 1 },
      /is a public key: give the private key/,
    )
    await rejects({}, { key: ec.privateKey, algorithm: 'RS256', expiresIn: 1 }, /has the type ec/)
    await rejects({}, { ...signing, iss: 'x' }, /did you mean "issuer"/)
    const token = await signJwt({ n: 1 }, { ...signing, notBefore: '1 minute', kid: 'k1', typ: 'at+jwt' })
    const [header, claims] = token
      .split('.', 2)
      .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()))
    assert.deepEqual(header, { alg: 'HS256', typ: 'at+jwt', kid: 'k1' })
    assert.equal(claims.nbf - claims.iat, 60)
  })

  test('verifyJwt says why', async () => {
    const reasonOf = async (token: string, options = {}): Promise<string> => {
      const error = await verifyJwt(token, { ...base, ...options }).then(
        () => null,
        (thrown: JwtError) => thrown,
      )
      assert.equal(error?.status, 401)
      return error.reason
    }
    const token = await signJwt({}, signing)
    assert.equal(await reasonOf(token, { secret: other }), 'signature')
    assert.equal(await reasonOf(token, { issuer: 'x' }), 'issuer')
    assert.equal(await reasonOf(token, { requiredClaims: ['jti'] }), 'missing')
    assert.equal(await reasonOf(token, { maxTokenSize: 64 }), 'size')
    assert.equal(await reasonOf('x'), 'form')
    assert.equal(await reasonOf(await signJwt({ exp: 5 }, { secret, algorithm: 'HS256' })), 'expired')
    await assert.rejects(verifyJwt(undefined as never, base), { code: 'E_BAD_OPTION' })
    await assert.rejects(verifyJwt(token, { ...base, allowedAud: 'x' } as never), /did you mean "audience"/)
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

test('a hostile header costs an answer of 401', async () => {
  const app = guarded({ ...base, maxTokenSize: 65_536 })
  const deep = (open: string, close: string, levels = 2_500) => open.repeat(levels) + close.repeat(levels)
  for (const header of [
    deep('[', ']'),
    `{"alg":"HS256","x":${deep('[', ']')}}`,
    deep('{"alg":', '}', 500).replace(':}', ':"HS256"}'),
    '{"alg":"HS256","alg":"none"}',
    '{"__proto__":{"alg":"HS256"}}',
    '{"alg":{"toString":"HS256"}}',
    '{"alg":"constructor"}',
    '{"alg":"__proto__"}',
    '\u0000',
  ]) {
    await refuses(app, `${Buffer.from(header).toString('base64url')}.e30.${'A'.repeat(43)}`)
  }
  assert.equal(kit.reports.length, 0)
})

test('jose is loaded by the first token that needs it', () => {
  const script = `
    import { Session } from 'node:inspector'
    import { generateKeyPairSync } from 'node:crypto'
    const loaded = new Set()
    const session = new Session()
    session.connect()
    session.on('Debugger.scriptParsed', ({ params: { url } }) => url.includes('/jose/') && loaded.add(url))
    session.post('Debugger.enable')
    await import('volant/auth')
    const { jwt, signJwt, verifyJwt } = await import('volant/jwt')
    const { publicKey, privateKey } = generateKeyPairSync('ed25519')
    const secret = 'x'.repeat(32)
    jwt({ key: publicKey, algorithms: ['EdDSA'] })
    await verifyJwt(await signJwt({}, { secret, algorithm: 'HS256', expiresIn: 60 }), { secret, algorithms: ['HS256'] })
    const before = loaded.size
    const token = await signJwt({}, { key: privateKey, algorithm: 'EdDSA', expiresIn: 60 })
    await verifyJwt(token, { key: publicKey, algorithms: ['EdDSA'] })
    console.log(before, loaded.size > 0)`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    encoding: 'utf8',
  })
  assert.deepEqual([stdout, stderr], ['0 true\n', ''])
})

test('claims and users are typed', () => {
  type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
  const same = <A, B>(value: Same<A, B>): void => assert.ok(value)
  const app = kit.app()
  app.with(jwt(base)).get('/plain', ({ state }) => {
    same<typeof state.user, JwtClaims>(true)
    same<typeof state.auth.claims, JwtClaims>(true)
    same<typeof state.auth.scheme, 'jwt' | 'jwtCookie'>(true)
  })
  app.with(jwt<{ sub: string }>(base)).get('/named', ({ state }) => {
    same<typeof state.user, { sub: string }>(true)
    // @ts-expect-error there is no such claim
    void state.user.other
  })
  app
    .with(jwt({ ...base, verify: ({ id }: { id: number }) => (id > 0 ? `user ${id}` : null) }))
    .get('/verify', ({ state }) => {
      same<typeof state.user, string>(true)
      same<typeof state.auth.claims, { id: number }>(true)
    })
  app
    .with(jwt({ ...base, schema: z.object({ sub: z.string() }), required: false }))
    .get('/schema', ({ state }) => {
      same<typeof state.user, { sub: string } | null>(true)
      // @ts-expect-error it may be null
      void state.auth.claims
    })
  // @ts-expect-error a secret and the algorithm of a key
  const mixed = () => jwt({ secret, algorithms: ['RS256'] })
  // @ts-expect-error algorithms are required
  const without = () => jwt({ secret })
  // @ts-expect-error the audience is required
  const anyAudience = () => jwk({ url: 'https://id.example/keys', algorithms: ['RS256'], issuer: 'x' })
  for (const wrong of [mixed, without, anyAudience]) assert.throws(wrong, { code: 'E_BAD_OPTION' })
})
