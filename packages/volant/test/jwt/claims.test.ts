import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { testClock } from '@volant/test-kit'
import { requireRole, requireScope } from 'volant/auth'
import { jwt, signJwt } from 'volant/jwt'
import { z } from 'zod'
import { ask, base, guarded, kit, refuses, secret, signing } from './kit.ts'

const now = 1_800_000_000

describe('jwt', () => {
  test('times: expired says so, others do not', async (t) => {
    // Claims have whole seconds, and this time is close to the next one.
    testClock(t).setDate(now * 1_000 + 999)
    const app = guarded(base)
    const tokenOf = (claims: object) => signJwt(claims, { secret, algorithm: 'HS256', expiresIn: false })
    const expired = await ask(app, await tokenOf({ exp: now - 6 }))
    assert.deepEqual(
      [expired.status, expired.challenge, (expired.body as { detail: string }).detail],
      [
        401,
        'Bearer error="invalid_token", error_description="The token has expired"',
        'The token has expired',
      ],
    )
    assert.equal((await ask(app, await tokenOf({ exp: now - 3 }))).status, 200)
    assert.equal((await ask(app, await tokenOf({ exp: now + 60, nbf: now + 3, iat: now + 3 }))).status, 200)
    for (const claims of [{}, { exp: now + 60, nbf: now + 30 }, { exp: now + 60, iat: now + 30 }]) {
      await refuses(app, await tokenOf(claims))
    }
    const exact = { ...base, clockTolerance: 0 }
    assert.equal((await ask(guarded(exact), await tokenOf({ exp: now - 1 }))).status, 401)
    assert.equal((await ask(guarded({ ...base, requireExpiration: false }), await tokenOf({}))).status, 200)
    const aged = guarded({ ...base, maxTokenAge: '1 hour', requireExpiration: false })
    assert.equal((await ask(aged, await tokenOf({ iat: now - 3_000 }))).status, 200)
    await refuses(aged, await tokenOf({ iat: now - 4_000 }))
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
})
