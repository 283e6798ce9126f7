/** Handlers of every kind, many at a time. */
import assert from 'node:assert/strict'
import { type Context, HTTPError } from 'volant'
import type { AdapterClock } from '../../clock.ts'
import { eventually, type Kit, request, turns } from '../../kit.ts'

/** Asks handlers in an order that looks random. The clock is moved on for those that never settle. */
export async function randomHandlers(kit: Kit, clock: AdapterClock): Promise<void> {
  const app = kit.app()
  const rejections: unknown[] = []
  const onRejection = (error: unknown) => void rejections.push(error)
  process.on('unhandledRejection', onRejection)
  // A connection must not be idle for too long while time passes for all that never settle.
  const handlerTimeout = clock.isHeld ? 100 : 50
  let waiting = 0
  const never = () => {
    waiting++
    return new Promise(() => {})
  }
  behaviours.forEach(({ name, run: settles }, at) => {
    const run = settles ?? never
    // The other cases keep the default time limit, because a busy machine may need long for any of them.
    const options = { handlerTimeout: name === 'never settles' ? handlerTimeout : undefined }
    app.all(`/plain/${at}`, options, run)
    app.all(`/sync/${at}`, options, (_ctx, next) => next(), run)
    app.all(
      `/async/${at}`,
      options,
      async (_ctx, next) => {
        await next()
      },
      async (_ctx, next) => next(),
      run,
    )
    app.all(
      `/float/${at}`,
      options,
      (_ctx, next) => {
        void next()
      },
      run,
    )
  })
  let seed = 0x5eed
  const random = (below: number) => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((seed / 2 ** 32) * below)
  }
  let answered = 0
  let isOver = false
  const passTime = async (): Promise<void> => {
    for (; clock.isHeld && !isOver; await turns(1)) {
      if (waiting === 0) continue
      waiting = 0
      await clock.advance(handlerTimeout)
    }
  }
  const passing = passTime()
  try {
    await kit.serve(app, async (live) => {
      // 20 connections with 20 requests in flight at most, 5 times.
      for (let round = 0; round < 5; round++) {
        await Promise.all(
          Array.from({ length: 20 }, async () => {
            const wire = await live.connect()
            const expected = Array.from({ length: 20 }, () => {
              // The slow one rarely: it takes its whole time, and the others of its connection wait.
              let at = random(behaviours.length)
              if (behaviours[at]?.name === 'never settles' && random(10) > 0) at = 0
              return {
                method: ['GET', 'POST', 'DELETE'][random(3)] as string,
                path: `/${['plain', 'sync', 'async', 'float'][random(4)]}/${at}`,
                at,
              }
            })
            const sent = expected.map(({ method, path }) => request(method, path))
            for await (const reply of kit.replies(wire, sent)) {
              const { method, path, at } = expected.shift() as (typeof expected)[number]
              assert.equal(
                reply.status,
                behaviours[at]?.status,
                `${method} ${path} (${behaviours[at]?.name})`,
              )
              answered++
            }
            assert.equal(wire.received.length, 0)
            wire.close()
          }),
        )
      }
      assert.equal(answered, 2_000)
      await eventually(() => app.stats().inFlight === 0, 'nothing in flight')
    })
    // A rejection that nobody handles is told in a later turn.
    await turns()
    assert.deepEqual(rejections, [])
  } finally {
    isOver = true
    await passing
    process.off('unhandledRejection', onRejection)
  }
}

/** What a handler does; one without `run` never settles. */
type Behaviour = { name: string; status: number; run?: (ctx: Context) => unknown }

const behaviours: Behaviour[] = [
  { name: 'returns', status: 200, run: () => ({ ok: true }) },
  { name: 'returns nothing', status: 204, run: () => undefined },
  { name: 'replies', status: 201, run: (ctx) => ctx.json({}, 201) },
  {
    name: 'throws',
    status: 500,
    run: () => {
      throw new Error('x')
    },
  },
  {
    name: 'throws HTTPError',
    status: 422,
    run: () => {
      throw new HTTPError(422)
    },
  },
  {
    name: 'rejects',
    status: 500,
    run: async () => {
      throw new Error('x')
    },
  },
  {
    name: 'rejects later',
    status: 409,
    run: async () => {
      await turns(1)
      throw new HTTPError(409)
    },
  },
  {
    name: 'replies twice',
    status: 200,
    run: (ctx) => {
      ctx.text('1')
      ctx.text('2')
    },
  },
  {
    name: 'replies and returns',
    status: 200,
    run: async (ctx) => {
      ctx.text('1')
      return 2
    },
  },
  {
    name: 'replies and throws',
    status: 200,
    run: (ctx) => {
      ctx.text('1')
      throw new Error('x')
    },
  },
  {
    name: 'replies and rejects',
    status: 200,
    run: async (ctx) => {
      ctx.text('1')
      await Promise.resolve()
      throw new Error('x')
    },
  },
  {
    name: 'circular',
    status: 500,
    run: async () => {
      const c: unknown[] = []
      c.push(c)
      return c
    },
  },
  { name: 'bad header', status: 500, run: (ctx) => ctx.header('a b', 'c').text('') },
  {
    name: 'streams',
    status: 200,
    run: function* () {
      yield 'a'
    },
  },
  { name: 'never settles', status: 503 },
  {
    name: 'waits',
    status: 200,
    run: async () => {
      await turns(3)
      return 'late'
    },
  },
  { name: 'reads a body that is not there', status: 204, run: (ctx) => ctx.body },
]
