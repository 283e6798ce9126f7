/** The options of `logger()`: what lines have, and which are written. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { pino } from 'pino'
import { logger, type LoggerOptions, type VolantError } from 'volant'
import { Kit, type Live } from '../kit.ts'
import { appWith, type Line, Lines, logged } from './kit.ts'

const kit = new Kit()

describe('logger', () => {
  test('fields are chosen; none leaves level and message', async () => {
    const chosen = await logged(
      { fields: ['statusCode', 'route', 'method', 'httpVersion'] },
      2,
      async (live) => {
        await live.ask('/users/7')
        await live.ask('/none')
      },
    )
    assert.deepEqual(chosen[0], {
      level: 30,
      req: { method: 'GET', route: '/users/:id', httpVersion: '1.1' },
      res: { statusCode: 200 },
      msg: 'request completed',
    })
    assert.equal(chosen[1]?.req.route, '')
    const none = await logged({ fields: [] }, 1, (live) => live.ask('/x'))
    assert.deepEqual(none, [{ level: 30, msg: 'request completed' }])
    for (const field of [
      'time',
      'pid',
      'hostname',
      'reqId',
      'method',
      'url',
      'statusCode',
      'responseTime',
    ] as const) {
      const [line] = await logged({ fields: [field] }, 1, (live) => live.ask('/x'))
      assert.equal(Object.keys(line as object).length, 3, field)
    }
  })

  test('members are added, and cost a line nothing when they fail', async () => {
    const round: Record<string, unknown> = {}
    round['self'] = round
    const props: NonNullable<LoggerOptions['props']> = (ctx, info) => {
      if (ctx.path === '/none') throw new Error('no props')
      return {
        user: { id: 7 },
        level: 10,
        msg: 'mine',
        time: 0,
        'a"b': info.status,
        big: 1n,
        round,
        not: undefined,
      }
    }
    const lines = await logged({ props }, 2, async (live) => {
      await live.ask('/x')
      await live.ask('/none')
    })
    const [line] = lines as [Line, Line]
    assert.deepEqual(line['user'], { id: 7 })
    assert.equal(line['a"b'], 200)
    assert.equal(line.level, 30)
    assert.equal(line.msg, 'request completed')
    assert.ok(line.time > 0)
    assert.deepEqual([line['big'], line['round'], 'not' in line], [1, { self: '[Circular]' }, false])
    assert.equal(lines[1]?.res.statusCode, 404)
  })

  test('level, sample and ignore decide what is logged', async () => {
    const ask = async (live: Live) => {
      for (const path of ['/x', '/none', '/broken', '/x?again']) await live.ask(path)
    }
    const statuses = async (options: LoggerOptions, count: number) =>
      (await logged(options, count, ask)).map((line) => line.res.statusCode)
    assert.deepEqual(await statuses({ level: 'debug' }, 4), [200, 404, 500, 200])
    assert.deepEqual(await statuses({ level: 'warn' }, 2), [404, 500])
    assert.deepEqual(await statuses({ level: 'error' }, 1), [500])
    assert.deepEqual(await statuses({ level: 'silent' }, 0), [])
    assert.deepEqual(await statuses({ sample: 0 }, 1), [500])
    assert.deepEqual(await statuses({ sample: 1 }, 4), [200, 404, 500, 200])
    assert.deepEqual(await statuses({ sample: (ctx) => ctx.path === '/none' }, 2), [404, 500])
    assert.deepEqual(await statuses({ ignore: ['/x'] }, 2), [404, 500])
    assert.deepEqual(await statuses({ ignore: (_, info) => info.status === 500 }, 3), [200, 404, 200])
    const { app, lines } = appWith({ sample: 0.5 })
    for (let time = 0; time < 400; time++) await app.inject('/x')
    assert.ok(lines.texts.length > 100 && lines.texts.length < 300, String(lines.texts.length))
  })

  test('under a path it logs what is under that path, routes or not', async () => {
    const lines = new Lines()
    const app = kit.app()
    app.use('/api', logger({ destination: lines }))
    app.get('/api/x', () => 'x')
    app.get('/:any/y', () => 'y')
    app.get('/x', () => 'x')
    await kit.serve(app, async (live) => {
      for (const path of ['/api/x', '/api/none', '/api/y', '/x', '/other/y', '/none']) await live.ask(path)
      await lines.wait(3)
    })
    assert.deepEqual(
      lines.all.map((line) => line.req.url),
      ['/api/x', '/api/none', '/api/y'],
    )
  })

  test('a member cannot take the place of a prototype', async () => {
    const events: object[] = []
    const log = { info: (event: object) => events.push(event), warn() {}, error() {} }
    const app = kit.app()
    app.use(
      logger({
        logger: log,
        props: () => JSON.parse('{"__proto__":{"a":1},"b":2}') as Record<string, unknown>,
      }),
    )
    app.get('/x', () => 'x')
    await app.inject('/x')
    assert.equal(Object.getPrototypeOf(events[0]), Object.prototype)
    assert.equal((events[0] as { b: number }).b, 2)
  })

  const nonsense: [string, unknown][] = [
    ['logger', null],
    ['logger', 'pino'],
    ['pretty', { pretty: true }],
    ['level', { level: 'loud' }],
    ['level', { level: 30 }],
    ['level', { level: 'toString' }],
    ['destination', { destination: 1 }],
    ['destination', { destination: {} }],
    ['destination', { destination: '/none/such/folder/app.log' }],
    ['destination', { destination: process.stderr, logger: pino({ enabled: false }) }],
    ['logger: logger', { logger: {} }],
    ['logger: logger', { logger: null }],
    ['fields', { fields: 'url' }],
    ['fields', { fields: null }],
    ['headers', { headers: null }],
    ['fields', { fields: ['uri'] }],
    ['headers', { headers: 'host' }],
    ['headers', { headers: ['a b'] }],
    ['headers', { headers: [5] }],
    ['redact', { redact: 'req.headers.x' }],
    ['redact', { redact: true }],
    ['redact', { redact: ['authorization'] }],
    ['redact', { redact: ['req.body.password'] }],
    ['props', { props: {} }],
    ['sample', { sample: 1.5 }],
    ['sample', { sample: -1 }],
    ['sample', { sample: NaN }],
    ['sample', { sample: 'half' }],
    ['ignore', { ignore: '/x' }],
    ['ignore', { ignore: ['x'] }],
    ['ignore', { ignore: [/x/] }],
  ]

  for (const [at, [name, given]] of nonsense.entries()) {
    test(`nonsense is refused: ${name} (${at})`, () => {
      assert.throws(
        () => logger(given as LoggerOptions),
        (error: VolantError) => error.code === 'E_BAD_OPTION' && error.message.includes(name),
      )
    })
  }
})
