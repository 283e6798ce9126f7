import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { describe, test } from 'node:test'
import type { VolantError } from 'volant'
import { jwk } from 'volant/jwt'
import { eventually, type Kit, stderrLines } from '../../kit.ts'
import {
  pairs,
  jwkOf,
  setOf,
  issued,
  reportsOf,
  type Issuer,
  issuing,
  tokenOf,
  runOut,
  hasLeft,
  overdue,
  clockOf,
} from './issuer.ts'

/** Tokens over sockets, and the key sets of servers; the rest is in `packages/volant/test/jwt.test.ts`. */
export function keySetsOfJwt(kit: Kit): void {
  describe('key sets of servers', () => {
    test('a set is fetched once for all requests that wait for it, and its keys rotate', async (t) => {
      const pass = clockOf(t)
      const errors: unknown[] = []
      await issuing(kit, async ({ issuer, app, ask }) => {
        reportsOf.set(app, errors)
        issuer.answer = () => setOf(jwkOf('first'))
        const first = await tokenOf('first')
        const statuses = await Promise.all(Array.from({ length: 20 }, () => ask(first)))
        assert.deepEqual([...new Set(statuses)], [200])
        assert.equal(issuer.fetches, 1)

        issuer.answer = () => setOf(jwkOf('second'), jwkOf('first'))
        const second = await tokenOf('second')
        assert.equal(await ask(second), 401, 'within the cooldown')
        assert.equal(issuer.fetches, 1)
        pass(30_000)
        assert.deepEqual([await ask(second), await ask(first), issuer.fetches], [200, 200, 2])

        issuer.answer = () => setOf(jwkOf('second'))
        pass(600_000)
        assert.deepEqual([await ask(first), await ask(second), issuer.fetches], [401, 200, 3])
        assert.equal(await ask(await tokenOf('second', { kid: undefined as never })), 200, 'no id, one key')
      })
      assert.deepEqual(errors, [])
    })

    test('made-up ids cause one request in a cooldown, and what a header names is never fetched', async (t) => {
      const pass = clockOf(t)
      await issuing(kit, async ({ issuer, ask, url }) => {
        issuer.answer = () => setOf(jwkOf('first'))
        assert.equal(await ask(await tokenOf('first')), 200)
        for (let cooldown = 1; cooldown <= 3; cooldown++) {
          pass(30_000)
          const tokens = Array.from({ length: 30 }, (_, at) => tokenOf('unknown', { kid: `made-up ${at}` }))
          const statuses = await Promise.all(tokens.map(async (token) => ask(await token)))
          assert.deepEqual([...new Set(statuses)], [401])
          assert.equal(issuer.fetches, 1 + cooldown)
        }
        const [, payload = '', mac = ''] = (await tokenOf('unknown')).split('.')
        const header = { alg: 'ES256', kid: 'first', jku: url, x5u: url, jwk: jwkOf('unknown') }
        assert.equal(
          await ask(`${Buffer.from(JSON.stringify(header)).toString('base64url')}.${payload}.${mac}`),
          401,
        )
        assert.equal(issuer.fetches, 4)
      })
    })

    const big = 'x'.repeat(300_000)
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 })
    const failures: Readonly<Record<string, readonly [answer: Issuer['answer'], message: RegExp]>> = {
      'answers with 500': [(ctx) => ctx.status(500).text('no'), /answered with 500/],
      'answers with 404': [(ctx) => ctx.status(404).text('no'), /answered with 404/],
      redirects: [(ctx) => ctx.redirect('/elsewhere'), /answered with 302/],
      'sends what is not JSON': [() => '{"keys":[', /not JSON/],
      'sends another JSON': [() => [jwkOf('first')], /no key for ES256/],
      'sends no keys': [() => setOf(), /no key for ES256/],
      'sends keys that are none': [
        () => setOf(null as never, [] as never, {}, { kty: 'EC' }),
        /no key for ES256/,
      ],
      'sends keys for encryption': [() => setOf(jwkOf('first', { use: 'enc' })), /no key for ES256/],
      'sends keys of another algorithm': [
        () => setOf(jwkOf('first', { alg: 'ES384' }), rsa.publicKey.export({ format: 'jwk' })),
        /no key for ES256/,
      ],
      'sends a secret': [() => setOf({ kty: 'oct', k: 'AAAA', kid: 'first' }), /no key for ES256/],
      'sends a private key': [
        () => setOf({ ...pairs.first.privateKey.export({ format: 'jwk' }), kid: 'first' }),
        /no key for ES256/,
      ],
      'sends too much': [() => ({ ...setOf(jwkOf('first')), big }), /larger than 262144 bytes/],
      'does not answer': [overdue, /no answer within 60000 ms/],
      'does not end its answer': [
        async function* (ctx) {
          yield '{"keys":['
          await overdue(ctx)
        },
        /no answer within 60000 ms/,
      ],
      'breaks off': [
        async function* () {
          yield '{"keys":['
          throw new Error('broken')
        },
        /cannot be had/,
      ],
    }
    for (const [what, [answer, message]] of Object.entries(failures)) {
      test(`a server that ${what}: 503 without keys, and once it is well again 200`, async (t) => {
        const pass = clockOf(t)
        const lines = await stderrLines(() =>
          issuing(kit, async ({ issuer, app, live, ask }) => {
            const errors: VolantError[] = []
            issuer.answer = answer
            reportsOf.set(app, errors)
            const token = await tokenOf('first')
            const headers = { authorization: `Bearer ${token}` }
            const reply = await live.ask('/me', { headers })
            assert.deepEqual([reply.status, reply.headers['retry-after']], [503, '1'])
            assert.equal((reply.json() as { code: string }).code, 'E_KEY_SET')
            assert.equal(await ask(token), 503)
            assert.equal(issuer.fetches, 1, 'the next request comes a second later')
            pass(1_000)
            assert.equal(await ask(token), 503)
            assert.deepEqual([issuer.fetches, errors.length, errors[0]?.code], [2, 1, 'E_KEY_SET'])
            assert.match(errors[0]?.message ?? '', message)
            issuer.answer = () => setOf(jwkOf('first'))
            pass(2_000)
            assert.deepEqual([await ask(token), issuer.fetches], [200, 3])
          }),
        )
        assert.equal(lines.filter((line) => /the key set .* is there again/.test(line)).length, 1)
      })
    }

    test('while the server is down the last set is used for a day, and nobody waits', async (t) => {
      const pass = clockOf(t)
      await stderrLines(() =>
        issuing(kit, async ({ issuer, ask, app }) => {
          const errors: VolantError[] = []
          reportsOf.set(app, errors)
          issuer.answer = () => setOf(jwkOf('first'))
          const [first, second] = [await tokenOf('first'), await tokenOf('second')]
          assert.equal(await ask(first), 200)
          issuer.answer = overdue
          pass(600_000)
          assert.deepEqual([await ask(first), errors.length, issuer.fetches], [200, 1, 2])
          pass(60_000)
          issuer.answer = hasLeft
          // This one starts a request that hangs. Neither it nor the next ones wait for that.
          assert.equal(await ask(first), 200)
          assert.equal(await ask(first), 200)
          await eventually(() => issuer.fetches === 3, 'a third request')
          const unknown = ask(second)
          runOut()
          assert.equal(await unknown, 503, 'a key that is not known may be a new one')
          issuer.answer = overdue
          pass(86_400_000)
          assert.equal(await ask(first), 503)
          issuer.answer = () => setOf(jwkOf('first'))
          pass(60_000)
          assert.deepEqual([await ask(first), await ask(second), errors.length], [200, 401, 1])
        }),
      )
    })

    test('a byte order mark before the set is left out', async () => {
      await issuing(kit, async ({ issuer, ask }) => {
        issuer.answer = (ctx) => ctx.text(`\uFEFF${JSON.stringify(setOf(jwkOf('first')))}`)
        assert.equal(await ask(await tokenOf('first')), 200)
      })
    })

    test('a server that cannot be reached', async () => {
      const gone = kit.app()
      const { port } = await gone.listen({ port: 0, host: '127.0.0.1' })
      await gone.close()
      const errors: VolantError[] = []
      const app = kit.app({ report: (error) => void errors.push(error as VolantError) })
      app.with(jwk({ ...issued, url: `http://127.0.0.1:${port}/keys?token=hidden` })).get('/me', () => 'x')
      await kit.serve(app, async (live) => {
        const reply = await live.ask('/me', {
          headers: { authorization: `Bearer ${await tokenOf('first')}` },
        })
        assert.equal(reply.status, 503)
        assert.match(String(errors[0]?.message), /127\.0\.0\.1:\d+\/keys cannot be had \(ECONNREFUSED\)/)
        assert.doesNotMatch(reply.text + String(errors[0]?.message), /hidden/)
      })
    })
  })
}
