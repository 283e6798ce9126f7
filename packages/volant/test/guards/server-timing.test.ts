/** Entries of Server-Timing. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { HTTPError } from 'volant'
import { serverTiming } from 'volant/middleware'
import { Kit } from '../kit.ts'
import { refuses } from './kit.ts'

const kit = new Kit()

describe('serverTiming', () => {
  test('entries in their order, and the whole', async () => {
    const app = kit.app()
    const timed = app.with(serverTiming({ enabled: true }))
    timed.get('/x', async ({ state: { timing } }) => {
      timing.mark('hit')
      timing.mark('db', 12.3456, 'the "books"\\\r\nü')
      timing.mark('bad name, dur=1', NaN)
      timing.mark('', 1)
      timing.mark('minus', -1)
      const end = timing.start('clock')
      end()
      assert.equal(await timing.time('work', async () => 7), 7)
      assert.equal(
        timing.time('sync', () => 8, 'told'),
        8,
      )
      assert.throws(() =>
        timing.time('thrown', () => {
          throw new Error('its own')
        }),
      )
      await assert.rejects(timing.time('rejected', () => Promise.reject(new Error('its own'))))
      return 'x'
    })
    timed.get('/many', ({ state: { timing } }) => {
      for (let at = 0; at < 1_000; at++) timing.mark('x'.repeat(200))
      return 'x'
    })
    timed.get('/fails', () => {
      throw new HTTPError(409)
    })
    await kit.serve(app, async (live) => {
      const { headers } = await live.ask('/x')
      const number = String.raw`\d+(\.\d+)?`
      assert.match(
        headers['server-timing'] ?? '',
        new RegExp(
          String.raw`^hit, db;dur=12\.35;desc="the \\"books\\"\\\\\?\?\?", bad_name__dur_1, minus, clock;dur=${number}, work;dur=${number}, sync;dur=${number};desc="told", thrown;dur=${number}, rejected;dur=${number}, total;dur=${number}$`,
        ),
      )
      assert.ok(((await live.ask('/many')).headers['server-timing'] ?? '').length < 8_192)
      assert.match((await live.ask('/fails')).headers['server-timing'] ?? '', /^total;dur=/)
    })
  })

  test('nothing is sent in production, and handlers need not know', async () => {
    const before = process.env['NODE_ENV']
    process.env['NODE_ENV'] = 'production'
    try {
      const app = kit.app()
      app.with(serverTiming()).get('/x', ({ state: { timing } }) => {
        timing.mark('a')
        timing.start('b')()
        return timing.time('c', () => 'x')
      })
      await kit.serve(app, async (live) => {
        const { text, headers } = await live.ask('/x')
        assert.deepEqual([text, headers['server-timing']], ['x', undefined])
      })
    } finally {
      if (before === undefined) delete process.env['NODE_ENV']
      else process.env['NODE_ENV'] = before
    }
  })

  test('without the whole, and options that make no sense', async () => {
    const app = kit.app()
    app.use(serverTiming({ enabled: true, total: false }))
    app.get('/x', () => 'x')
    await kit.serve(app, async (live) => {
      assert.equal((await live.ask('/x')).headers['server-timing'], undefined)
    })
    refuses([
      [() => serverTiming({ enabled: 1 as never }), /serverTiming: enabled takes true or false/],
      [() => serverTiming({ total: 'a b' }), /serverTiming: total takes a name/],
      [() => serverTiming({ crossOrigin: true } as never), /timing-allow-origin/],
    ])
  })
})
