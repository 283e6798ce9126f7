/** Options of an authentication that make no sense. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { anyOf, apiKey, authenticate, basic, bearer, requireRole, requireScope } from 'volant/auth'

describe('options', () => {
  const rows: [what: string, make: () => unknown, message: RegExp][] = [
    ['no source', () => bearer({} as never), /one of token, tokens, verify, not "none"/],
    ['two sources', () => bearer({ token: 'a', tokens: ['b'] }), /not "token and tokens"/],
    [
      'a missing variable',
      () => bearer({ token: process.env['NOT_THERE'] }),
      /a value \(is its environment variable set\?\), not undefined$/,
    ],
    [
      'a missing variable among others',
      () => bearer({ tokens: { ci: process.env['NOT_THERE'] } }),
      /tokens\.ci is undefined/,
    ],
    ['an empty token', () => bearer({ token: '' }), /token is empty/],
    ['no tokens', () => bearer({ tokens: {} }), /nobody could pass/],
    ['one token for two', () => bearer({ tokens: { a: 'hunter2', b: 'hunter2' } }), /one secret twice/],
    [
      'a token that cannot be sent',
      () => bearer({ token: 'top secret' }),
      /characters that a bearer token cannot/,
    ],
    ['a text for tokens', () => bearer({ tokens: 'secret' as never }), /tokens takes a list of texts/],
    ['a name of another framework', () => bearer({ keys: ['a'] } as never), /did you mean "tokens"/],
    ['a realm of two lines', () => bearer({ token: 'a', realm: 'a\nb' }), /realm takes/],
    ['verify that is none', () => bearer({ verify: 'a' as never }), /verify takes a function/],
    [
      'required that is none',
      () => bearer({ token: 'a', required: 1 as never }),
      /required takes true or false/,
    ],
    ['a scheme of two words', () => bearer({ token: 'a', schemeName: 'a b' }), /schemeName takes/],
    ['no realm', () => basic({ users: { a: 'b' } } as never), /realm takes/],
    [
      'a colon in a name',
      () => basic({ realm: 'r', users: { 'a:b': 'c' } }),
      /users\.a:b has a name that cannot be sent/,
    ],
    ['an empty password', () => basic({ realm: 'r', users: { a: '' } }), /users\.a is empty/],
    ['a hash', () => basic({ realm: 'r', users: { a: '$argon2id$secret' } }), /verifyPassword/],
    ['a password with a line', () => basic({ realm: 'r', users: { a: 'top\nsecret' } }), /control character/],
    [
      'a list of users',
      () => basic({ realm: 'r', users: ['secret'] as never }),
      /users takes passwords by name/,
    ],
    ['no users', () => basic({ realm: 'r', users: {} }), /nobody could pass/],
    [
      'another place',
      () => apiKey({ in: 'body' as never, name: 'a', keys: ['b'] }),
      /in takes header, query, cookie/,
    ],
    ['no name', () => apiKey({ in: 'header', name: 'a b', keys: ['b'] }), /name takes/],
    ['no keys', () => apiKey({ in: 'header', name: 'a' } as never), /one of keys, verify/],
    ['nothing', () => anyOf(...([] as never)), /at least one/],
    ['a plain function', () => anyOf((() => {}) as never), /takes authentications/],
    ['one that is not called', () => anyOf(bearer as never), /takes authentications/],
    ['no security', () => authenticate({ schemeName: 'a' } as never), /security takes/],
    [
      'no credentials',
      () => authenticate({ schemeName: 'a', security: { type: 'http' } } as never),
      /credentials takes/,
    ],
    ['no scope', () => requireScope(), /at least one name, not undefined$/],
    ['two scopes in one', () => requireScope('a b'), /names of scopes/],
    ['no role', () => requireRole(), /at least one name/],
  ]
  for (const [what, make, message] of rows) {
    test(`${what} is refused, and no secret is shown`, () => {
      assert.throws(make, (error: Error & { code: string }) => {
        assert.match(error.code, /^E_BAD_(?:OPTION|HANDLER)$/)
        assert.match(error.message, message)
        assert.ok(!/hunter2|top.secret|'secret'|"secret"/.test(error.message), error.message)
        return true
      })
    })
  }
})
