import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { jwt, signJwt } from 'volant/jwt'
import { type Kit, request } from '../../kit.ts'

const secret = 'a secret of more than 32 bytes, for HS256'

const base = { secret, algorithms: ['HS256'] } as const

/** Tokens over sockets, and the key sets of servers; the rest is in `packages/volant/test/jwt.test.ts`. */
export function tokensOfJwt(kit: Kit): void {
  describe('tokens', () => {
    test('a good one passes, others are 401, and the connection goes on', async () => {
      const app = kit.app()
      app.with(jwt(base)).get('/me', (ctx) => ({ sub: ctx.state.user.sub }))
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        const good = await signJwt({ sub: 'ada' }, { secret, algorithm: 'HS256', expiresIn: 60 })
        const [head = '', payload = ''] = good.split('.')
        for (const [authorization, status, challenge] of [
          [`Bearer ${good}`, 200, undefined],
          [`bEARER   ${good}`, 200, undefined],
          [`Bearer ${head}.${payload}.`, 401, 'Bearer error="invalid_token"'],
          [`Bearer ${good}x`, 401, 'Bearer error="invalid_token"'],
          [`Token ${good}`, 401, 'Bearer'],
          [`Bearer ${good}, Bearer ${good}`, 400, 'Bearer error="invalid_request"'],
          [`Bearer ${good}`, 200, undefined],
        ] as const) {
          const reply = await wire.send(request('GET', '/me', { authorization })).reply()
          assert.deepEqual(
            [reply.status, reply.headers['www-authenticate']],
            [status, challenge],
            authorization,
          )
        }
      })
    })

    test(
      'a client that waits for 100 Continue is refused before it sends its body',
      kit.needs('late-100'),
      async () => {
        const app = kit.app()
        app.with(jwt(base)).post('/me', { beforeBody: () => {} }, (ctx) => ctx.bodyText)
        await kit.serve(app, async (live) => {
          const wire = await live.connect()
          wire.send(
            request('POST', '/me', {
              'content-length': '1000',
              expect: '100-continue',
              authorization: 'Bearer x',
            }),
          )
          assert.equal((await wire.interim()).status, 401)
        })
      },
    )
  })
}
