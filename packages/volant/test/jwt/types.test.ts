import assert from 'node:assert/strict'
import { test } from 'node:test'
import { jwk, jwt, type JwtClaims } from 'volant/jwt'
import { z } from 'zod'
import { base, kit, secret } from './kit.ts'

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
