/** What `jose` accepts is accepted, and what it refuses is refused, but for the rules that are stricter here. */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { jwtVerify } from 'jose'
import { JwtError, verifyJwt, type VerifyJwtOptions } from 'volant/jwt'
import {
  alphabet,
  holdClock,
  madeToken,
  now,
  oneOf,
  rounds,
  ruleOfJose,
  rules,
  secret,
  seed,
  sources,
  stricter,
} from './random-tokens.ts'

test(`jose accepts and refuses the same tokens, with SEED=${seed}`, async (t) => {
  holdClock(t)
  const seen = new Map<string, number>()
  const count = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1)
  const prepared = rules.flatMap((rule) =>
    sources.map(([, source, key]) => ({
      rule,
      key,
      options: { ...source, ...rule } as VerifyJwtOptions,
      jose: ruleOfJose(rule),
    })),
  )
  for (let round = 0; round < rounds; round++) {
    const { rule, key, options, jose } = oneOf(prepared)
    const token = madeToken(options.algorithms)
    const theirs = await jwtVerify(token, key as Uint8Array, {
      ...jose,
      algorithms: [...options.algorithms],
    }).then(
      ({ payload }) => payload,
      () => null,
    )
    const ours = await verifyJwt(token, options).catch((error: unknown) => {
      assert.ok(error instanceof JwtError, String(error))
      count(error.reason)
      return null
    })
    const extra = theirs === null ? null : stricter(token, rule, theirs)
    if (extra !== null) count(extra)
    const expected = extra === null ? theirs : null
    if (expected !== null) count('accepted')
    assert.equal(
      JSON.stringify(ours),
      JSON.stringify(expected),
      `${token} with ${JSON.stringify({ ...rule, by: options.algorithms })}`,
    )
  }
  // A corpus that has no such tokens shows nothing about them.
  for (const what of [
    'accepted',
    'algorithm',
    'audience',
    'claims',
    'critical',
    'form',
    'issuer',
    'missing',
    'signature',
    'type',
  ]) {
    assert.ok((seen.get(what) ?? 0) > 0, `${what} is not in ${JSON.stringify([...seen])}`)
  }
})

test('the rules that are stricter here', async (t) => {
  holdClock(t)
  const header = Buffer.from('{"alg":"HS256"}').toString('base64url')
  const claims = `{"exp":${now + 60}}`
  const tokenOf = (payload: string, head = header): string => {
    const input = `${head}.${payload}`
    return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`
  }
  const good = tokenOf(Buffer.from(claims).toString('base64url'))
  const last = alphabet.indexOf(good.at(-1) as string)
  for (const [token, reason] of [
    // The last character of a signature of 32 bytes has two bits that no byte has.
    ...[1, 2, 3].map((bits) => [good.slice(0, -1) + alphabet[last ^ bits], 'signature'] as const),
    [`${good}=`, 'signature'],
    [`${good.slice(0, -9)}\n${good.slice(-9)}`, 'signature'],
    [tokenOf(Buffer.from(`${claims} `).toString('base64')), 'claims'],
    [tokenOf(` ${Buffer.from(claims).toString('base64url')}`), 'claims'],
    [tokenOf(Buffer.from(`\ufeff${claims}`).toString('base64url')), 'claims'],
    [tokenOf(Buffer.from('{"exp":1e999}').toString('base64url')), 'times'],
    [tokenOf(Buffer.from(`{"exp":${now + 60},"iat":${now + 30}}`).toString('base64url')), 'issued'],
    [tokenOf(Buffer.from(claims + ' '.repeat(6_100)).toString('base64url')), 'size'],
    [
      tokenOf(
        Buffer.from(claims).toString('base64url'),
        Buffer.from('{"alg":"HS256","b64":true,"crit":["b64"]}').toString('base64url'),
      ),
      'critical',
    ],
  ] as const) {
    await jwtVerify(token, secret, { algorithms: ['HS256'] })
    await assert.rejects(verifyJwt(token, { secret, algorithms: ['HS256'] }), { reason })
  }
})
