import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { HTTPError, type Problem } from 'volant'
import { Kit } from './kit.ts'

const bare = { type: 'about:blank', title: 'Internal Server Error', status: 500 }
const forLocals = 'Sent to clients on this machine alone, and to nobody where NODE_ENV is production.'

/** Runs `run` with the environment of development, or of production. */
async function inEnvironment(name: string | undefined, run: () => Promise<void>): Promise<void> {
  const before = process.env['NODE_ENV']
  if (name === undefined) delete process.env['NODE_ENV']
  else process.env['NODE_ENV'] = name
  try {
    await run()
  } finally {
    if (before === undefined) delete process.env['NODE_ENV']
    else process.env['NODE_ENV'] = before
  }
}

const kit = new Kit()

const throwing = (errorDetails: boolean | undefined, error: unknown = new TypeError('no id')) => {
  const app = kit.app({ errorDetails })
  app.get('/x', () => {
    throw error
  })
  return app
}

describe('what the reply to an unexpected error says', () => {
  test('in development: what it was, where it was thrown and where the rest is', async () => {
    for (const environment of [undefined, 'development', 'test']) {
      await inEnvironment(environment, () =>
        kit.serve(throwing(undefined), async (live) => {
          const { detail, ...rest } = (await live.ask('/x')).json() as Problem
          assert.deepEqual(rest, bare)
          assert.match(
            detail as string,
            /^TypeError: no id \(\S+error-details\.test\.[jt]s:\d+:\d+\); the report option has the stack\. /,
          )
          assert.ok(detail?.endsWith(forLocals), String(detail))
        }),
      )
    }
  })

  test('an error that the framework throws stands where the app called it', async () => {
    await inEnvironment(undefined, async () => {
      const app = kit.app({ errorDetails: undefined })
      app.get('/bad-name', (ctx) => ctx.header('a b', '1').text('never'))
      await kit.serve(app, async (live) => {
        const { detail } = (await live.ask('/bad-name')).json() as Problem
        assert.match(detail as string, / \(\S+error-details\.test\.[jt]s:\d+:\d+\); /)
      })
    })
  })

  test('the code of an error of the framework, and the route', async () => {
    await inEnvironment(undefined, async () => {
      const app = kit.app({ errorDetails: undefined })
      app.get(
        '/silent',
        async () => {},
        () => 'never',
      )
      await kit.serve(app, async (live) => {
        const { detail } = (await live.ask('/silent')).json() as Problem
        assert.match(detail as string, /^E_NEXT_MISSING: a middleware of GET \/silent neither/)
      })
    })
  })

  test('in production, and with errorDetails: false, nothing', async () => {
    await inEnvironment('production', () =>
      kit.serve(throwing(undefined), async (live) => {
        assert.deepEqual((await live.ask('/x')).json(), bare)
      }),
    )
    await inEnvironment(undefined, () =>
      kit.serve(throwing(false), async (live) => {
        assert.deepEqual((await live.ask('/x')).json(), bare)
      }),
    )
  })

  test('in development nothing to clients of other machines, nor to those behind a proxy', async () => {
    await inEnvironment(undefined, async () => {
      const app = throwing(undefined)
      for (const remoteAddress of ['203.0.113.7', '10.0.0.2', '::2', '']) {
        assert.deepEqual((await app.inject({ url: '/x', remoteAddress })).json(), bare, remoteAddress)
      }
      for (const remoteAddress of ['127.0.0.1', '127.8.9.1', '::1', '::ffff:127.0.0.1']) {
        const { detail } = (await app.inject({ url: '/x', remoteAddress })).json<Problem>()
        assert.match(detail ?? '', /^TypeError: no id/, remoteAddress)
      }
      await kit.serve(throwing(undefined), async (live) => {
        const fields = [
          'forwarded',
          'via',
          'x-forwarded-for',
          'x-forwarded-host',
          'x-forwarded-proto',
          'x-real-ip',
        ]
        for (const name of fields) {
          assert.deepEqual(
            (await live.ask('/x', { headers: { [name]: 'for=203.0.113.7' } })).json(),
            bare,
            name,
          )
        }
      })
    })
  })

  test('in development only to those who ask this machine by a name of its own', async () => {
    await inEnvironment(undefined, () =>
      kit.serve(throwing(undefined), async (live) => {
        const detailFor = async (host: string) =>
          ((await live.ask('/x', { headers: { host } })).json() as Problem).detail
        for (const host of [
          'localhost',
          'LOCALHOST:3000',
          'api.localhost',
          '127.0.0.1:80',
          '127.8.9.1',
          '[::1]:80',
        ]) {
          assert.match((await detailFor(host)) ?? '', /^TypeError: no id/, host)
        }
        const others = [
          'shop.example',
          'localhost.example',
          '127.0.0.1.example',
          'notlocalhost',
          '10.0.0.1',
          '[::2]',
        ]
        for (const host of others) assert.equal(await detailFor(host), undefined, host)
      }),
    )
  })

  test('with errorDetails: true everybody is told, in production too', async () => {
    await inEnvironment('production', async () => {
      const reply = await throwing(true).inject({ url: '/x', remoteAddress: '203.0.113.7' })
      assert.match(
        reply.json<Problem>().detail ?? '',
        /^TypeError: no id .*Sent because errorDetails is true\.$/,
      )
    })
  })

  test('an HTTPError says what it says in production', async () => {
    for (const error of [new HTTPError(500, 'hidden'), new HTTPError(404, 'hidden', { expose: false })]) {
      const { detail } = (await throwing(true, error).inject('/x')).json<Problem>()
      assert.equal(detail, undefined)
    }
  })

  test('what is no Error, what is very long and what cannot be read', async () => {
    const detail = async (error: unknown) =>
      (await throwing(true, error).inject('/x')).json<Problem>().detail ?? ''
    assert.match(await detail('text'), /^'text' was thrown; the report option/)
    assert.match(await detail(null), /^null was thrown; /)
    assert.ok((await detail(new Error('x'.repeat(50_000)))).length < 1_500)
    const hostile = Object.defineProperty(new Error('x'), 'message', {
      get: () => {
        throw new Error('y')
      },
    })
    assert.equal(await detail(hostile), '')
    assert.match(
      await detail(Object.assign(new Error('no host'), { code: 'ENOTFOUND' })),
      /^ENOTFOUND: no host/,
    )
  })

  test('a value that makes no sense is refused', () => {
    assert.throws(() => kit.app({ errorDetails: 'yes' as never }), {
      code: 'E_BAD_OPTION',
      message: /errorDetails takes true or false/,
    })
  })
})
