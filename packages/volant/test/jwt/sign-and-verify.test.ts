import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type JwtError, signJwt, verifyJwt } from 'volant/jwt'
import { base, ec, other, rsa, secret, signing } from './kit.ts'

describe('options of jwt, jwk, signJwt and verifyJwt', () => {
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
