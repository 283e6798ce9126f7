import assert from 'node:assert/strict'
import { createSecretKey, generateKeyPairSync } from 'node:crypto'
import { describe, test } from 'node:test'
import { jwk, jwt } from 'volant/jwt'
import { base, ec, rsa, secret } from './kit.ts'

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
})
