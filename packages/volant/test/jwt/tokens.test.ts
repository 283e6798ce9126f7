import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createSecretKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { signJwt, verifyJwt } from 'volant/jwt'
import { ask, base, ec, guarded, kit, other, refuses, rsa, secret, signing } from './kit.ts'

const ed = generateKeyPairSync('ed25519')

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
