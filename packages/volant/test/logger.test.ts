/** Log lines. Long by its table of what clients may write into them. */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { HTTPError, logger, type LoggerOptions, requestId, type VolantError } from 'volant'
import * as z from 'zod'
import { deferred, eventually, Kit, type Live } from './kit.ts'

/** A line as a reader of logs sees it. */
interface Line {
  level: number
  time: number
  pid: number
  hostname: string
  reqId: string
  req: {
    method: string
    url: string
    remoteAddress: string
    headers?: Record<string, string>
    route?: string
  }
  res: { statusCode: number }
  responseTime: number
  err?: { type: string; message: string; stack?: string; code?: string }
  msg: string
  [more: string]: unknown
}

/** Takes lines; each has to be one line of JSON. */
class Lines {
  readonly texts: string[] = []

  write(text: string): void {
    assert.equal(text.indexOf('\n'), text.length - 1)
    this.texts.push(text)
  }

  get all(): Line[] {
    return this.texts.map((text) => JSON.parse(text) as Line)
  }

  /** The first `count` lines, once they are there. */
  async wait(count: number): Promise<Line[]> {
    await eventually(() => this.texts.length >= count, `${count} lines`)
    return this.all
  }
}

const kit = new Kit()

const appWith = (options: LoggerOptions = {}) => {
  const lines = new Lines()
  const app = kit.app({ limits: { maxBodySize: 100 } })
  app.use(logger({ ...(options.logger === undefined ? { destination: lines } : {}), ...options }))
  app.get('/x', (ctx) => ctx.text('x'))
  app.get('/users/:id', async (ctx) => ({ id: ctx.params.id }))
  app.get('/teapot', () => {
    throw new HTTPError(418, 'short')
  })
  app.get('/broken', async () => {
    throw Object.assign(new TypeError('it\n"broke"', { cause: new Error('deep') }), { code: 'E_MINE' })
  })
  app.get('/gone', () => {
    throw new HTTPError(503, 'no database')
  })
  return { app, lines }
}

/** Serves, runs, and gives the lines there are then. */
const logged = async (
  options: LoggerOptions,
  count: number,
  run: (live: Live) => Promise<unknown>,
): Promise<Line[]> => {
  const { app, lines } = appWith(options)
  await kit.serve(app, async (live) => {
    await run(live)
    await lines.wait(count)
  })
  assert.equal(lines.texts.length, count)
  return lines.all
}

describe('logger', () => {
  test('a line has what pino would write, in its order', async () => {
    const { app, lines } = appWith()
    const before = Date.now()
    await kit.serve(app, async (live) => {
      await live.ask('/users/7?a=1&b=%20')
      await lines.wait(1)
    })
    const [line] = lines.all as [Line]
    assert.deepEqual(Object.keys(line), [
      'level',
      'time',
      'pid',
      'hostname',
      'reqId',
      'req',
      'res',
      'responseTime',
      'msg',
    ])
    assert.equal(line.level, 30)
    assert.ok(line.time >= before && line.time <= Date.now())
    assert.equal(line.pid, process.pid)
    assert.equal(line.hostname, hostname())
    assert.match(line.reqId, /^[\w-]{8,}$/)
    assert.deepEqual(line.req, { method: 'GET', url: '/users/7?a=1&b=%20', remoteAddress: '127.0.0.1' })
    assert.deepEqual(line.res, { statusCode: 200 })
    assert.ok(line.responseTime >= 0 && line.responseTime < 5_000)
    assert.match(String(line.responseTime), /^\d+(?:\.\d{1,3})?$/)
    assert.equal(line.msg, 'request completed')
  })

  test('levels and errors follow the reply', async () => {
    const rows = [
      ['/x', 'GET', 200, 30, 'request completed'],
      ['/x', 'HEAD', 200, 30, 'request completed'],
      ['/x', 'OPTIONS', 204, 30, 'request completed'],
      ['/none', 'GET', 404, 40, 'request completed'],
      ['/x', 'DELETE', 405, 40, 'request completed'],
      ['/teapot', 'GET', 418, 40, 'request completed'],
      ['/broken', 'GET', 500, 50, 'request errored'],
      ['/gone', 'GET', 503, 50, 'request errored'],
    ] as const
    const lines = await logged({}, rows.length, async (live) => {
      for (const [path, method] of rows) await live.ask(path, { method })
    })
    for (const [at, [path, method, status, level, message]] of rows.entries()) {
      const line = lines[at] as Line
      assert.deepEqual(
        [line.req.url, line.req.method, line.res.statusCode, line.level, line.msg],
        [path, method, status, level, message],
      )
      assert.equal(line.err === undefined, level !== 50, path)
    }
    const { err } = lines[6] as Line
    assert.equal(err?.type, 'TypeError')
    assert.equal(err?.message, 'it\n"broke"')
    assert.equal(err?.code, 'E_MINE')
    assert.match(err?.stack ?? '', /TypeError: it\n"broke"[^]*caused by: Error: deep/)
    assert.equal((lines[7] as Line).err?.message, 'no database')
  })

  test('an error an error handler turned into an orderly reply is told, at the level of the reply', async () => {
    const { app, lines } = appWith()
    app.onError(async (error, ctx) => {
      await sleep(5)
      if (!(error instanceof TypeError)) return undefined
      ctx.text('mended', 409)
      await sleep(20)
      return undefined
    })
    app.get('/thrown', () => {
      throw 'just text'
    })
    await kit.serve(app, async (live) => {
      await live.ask('/broken?first')
      await live.ask('/x?second')
      await lines.wait(2)
      await live.ask('/thrown')
      await lines.wait(3)
    })
    const mended = lines.all.find((line) => line.res.statusCode === 409)
    assert.equal(mended?.req.url, '/broken?first')
    assert.equal(mended?.level, 40)
    assert.equal(mended?.err?.type, 'TypeError')
    assert.deepEqual(lines.all.at(-1)?.err, { type: 'string', message: 'just text' })
  })

  test('requests that are answered late or in parts are told when they are complete, as they were', async () => {
    const { app, lines } = appWith()
    const gate = deferred()
    let entered = 0
    app.get('/slow/:id', async (ctx) => {
      entered++
      await gate.promise
      return ctx.params.id
    })
    app.get('/stream', (ctx) =>
      ctx.stream(
        Readable.from(
          (async function* () {
            entered++
            yield 'a'
            await gate.promise
            yield 'b'
          })(),
        ),
      ),
    )
    app.get('/early', async (ctx) => {
      entered++
      ctx.text('early')
      await gate.promise
    })
    await kit.serve(app, async (live) => {
      const slow = ['/slow/1?q=1', '/stream?q=2', '/early?q=3'].map((path) => live.ask(path))
      await eventually(() => entered === 3, 'requests in flight')
      for (let time = 0; time < 20; time++) await live.ask('/x')
      gate.resolve()
      await Promise.all(slow)
      await lines.wait(23)
    })
    const urls = lines.all.map((line) => line.req.url).filter((url) => url !== '/x')
    assert.deepEqual(urls.toSorted(), ['/early?q=3', '/slow/1?q=1', '/stream?q=2'])
    for (const line of lines.all) assert.equal(line.req.remoteAddress, '127.0.0.1')
  })

  test('nothing a client sends gets out of its string', async () => {
    const urls = [
      '/x?a="}}\\',
      "/x?a=%0A{'level':60}",
      '/x?__proto__=1',
      `/none/${encodeURIComponent('"\n\u2028\u{1f600}')}`,
    ]
    const agents = ['a"b\\c', 'a\tb', 'a\x80\x9b31mred\x9f', 'caf\xe9', '","level":60,"x":"']
    const { app, lines } = appWith({ headers: ['User-Agent', '__proto__', 'x-none'] })
    app.get('/agent', (ctx) => ({ agent: ctx.headers['user-agent'] }))
    const seen: unknown[] = []
    await kit.serve(app, async (live) => {
      for (const url of urls) await live.ask(url)
      for (const agent of agents) {
        const reply = await live.ask('/agent', { headers: { 'user-agent': agent } })
        seen.push((reply.json() as { agent: string }).agent)
      }
      await lines.wait(urls.length + agents.length)
    })
    for (const [at, url] of urls.entries()) assert.equal(lines.all[at]?.req.url, url)
    for (const [at, agent] of seen.entries()) {
      const line = lines.all[urls.length + at] as Line
      assert.deepEqual(line.req.headers, { 'user-agent': agent })
      assert.equal(line.level, 30)
    }
  })

  test('no control character reaches whoever reads the file', async () => {
    const { app, lines } = appWith({
      headers: ['x-a'],
      props: () => ({ a: '\x9b\u2029\x7f', ['\x85']: 1 }),
    })
    app.get('/error', () => {
      throw new Error('\x1b[31m\x9b\r\n')
    })
    await kit.serve(app, async (live) => {
      await live.ask('/error', { headers: { 'x-a': '\x9b\x84' } })
      await lines.wait(1)
    })
    // oxlint-disable-next-line no-control-regex -- they are what is looked for
    assert.doesNotMatch(lines.texts.join('').slice(0, -1), /[\x00-\x1f\x7f-\x9f\u2028\u2029]/)
    assert.equal(lines.all[0]?.err?.message, '\x1b[31m\x9b\r\n')
    assert.equal(lines.all[0]?.['a'], '\x9b\u2029\x7f')
  })

  test('secrets are kept out', async () => {
    const headers = ['authorization', 'cookie', 'x-key', 'x-open']
    const sent = {
      authorization: 'Bearer s3cret',
      cookie: 'sid=s3cret',
      'x-key': 's3cret',
      'x-open': 'yes',
    }
    const options: LoggerOptions = {
      headers,
      redact: ['req.headers["X-Key"]', 'req.query.token', "req.query['a b']", 'req.remoteAddress'],
    }
    const url = '/x?token=s3cret&tok%65n=s3cret&a+b=s3cret&a%20b=s3cret&tokens=1&token&token='
    const { app, lines } = appWith(options)
    await kit.serve(app, async (live) => {
      await live.ask(url, { headers: sent })
      await lines.wait(1)
    })
    const [line] = lines.all as [Line]
    assert.doesNotMatch(lines.texts.join(''), /s3cret/)
    assert.deepEqual(line.req.headers, {
      authorization: '[Redacted]',
      cookie: '[Redacted]',
      'x-key': '[Redacted]',
      'x-open': 'yes',
    })
    assert.equal(
      line.req.url,
      '/x?token=[Redacted]&tok%65n=[Redacted]&a+b=[Redacted]&a%20b=[Redacted]&tokens=1&token&token=[Redacted]',
    )
    assert.equal(line.req.remoteAddress, '[Redacted]')
    const open = await logged({ headers, redact: false }, 1, (live) => live.ask('/x', { headers: sent }))
    assert.equal(open[0]?.req.headers?.['authorization'], 'Bearer s3cret')
  })

  test('headers are those that were sent, whatever a schema made of them', async () => {
    const { app, lines } = appWith({ headers: ['x-count'] })
    app.get('/checked', { headers: z.object({ 'x-count': z.coerce.number() }) }, (ctx) => ({
      count: ctx.headers['x-count'],
    }))
    await kit.serve(app, async (live) => {
      assert.deepEqual((await live.ask('/checked', { headers: { 'x-count': '05' } })).json(), { count: 5 })
      await lines.wait(1)
    })
    assert.deepEqual(lines.all[0]?.req.headers, { 'x-count': '05' })
  })

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

  test('the id is that of requestId, and of ctx.id without it', async () => {
    const { app, lines } = appWith()
    app.use(requestId({ trust: true }))
    app.get('/id', (ctx) => ctx.id)
    await kit.serve(app, async (live) => {
      await live.ask('/id', { headers: { 'x-request-id': 'theirs' } })
      const reply = await live.ask('/id')
      await lines.wait(2)
      assert.equal(lines.all[1]?.reqId, reply.text)
    })
    assert.equal(lines.all[0]?.reqId, 'theirs')
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

  test('a pino of the user is given objects', async () => {
    const lines = new Lines()
    const options: LoggerOptions = {
      logger: pino({ base: { app: 'shop' }, redact: ['req.remoteAddress'] }, lines),
      headers: ['host', 'cookie'],
      props: () => ({ user: 7, req: 'mine' }),
    }
    const { app } = appWith(options)
    await kit.serve(app, async (live) => {
      await live.ask('/x?a="', { headers: { cookie: 'a=b' } })
      await live.ask('/none')
      await live.ask('/broken')
      await lines.wait(3)
    })
    const [first, second, third] = lines.all as [Line, Line, Line]
    assert.deepEqual(first.req, {
      method: 'GET',
      url: '/x?a="',
      remoteAddress: '[Redacted]',
      headers: { host: 'localhost', cookie: '[Redacted]' },
    })
    assert.equal(first['app'], 'shop')
    assert.equal(first['user'], 7)
    assert.equal(first.msg, 'request completed')
    assert.equal(typeof first.responseTime, 'number')
    assert.deepEqual([first.level, second.level, third.level], [30, 40, 50])
    assert.equal(third.err?.type, 'TypeError')
    assert.equal(third.msg, 'request errored')
  })

  test('a line is the one pino would write', async () => {
    const ours = new Lines()
    const theirs = new Lines()
    const app = kit.app()
    app.use(logger({ destination: ours }))
    app.use(logger({ logger: pino({}, theirs) }))
    app.get('/x', (ctx) => ctx.text('x'))
    await kit.serve(app, async (live) => {
      await live.ask('/x?a=1')
      await ours.wait(1)
      await theirs.wait(1)
    })
    const [left, right] = [ours.all[0], theirs.all[0]] as [Line, Line]
    assert.deepEqual({ ...left, time: 0 }, { ...right, time: 0 })
    assert.deepEqual(Object.keys(left), Object.keys(right))
  })

  test('a file has the lines when the app is closed', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'volant-log-'))
    try {
      const path = join(folder, 'app.log')
      for (const round of [1, 2]) {
        const app = kit.app()
        app.get('/x', logger({ destination: path }), () => 'x')
        await kit.serve(app, async (live) => {
          for (let time = 0; time < 100; time++) await live.app.inject(`/x?time=${time}`)
        })
        const lines = (await readFile(path, 'utf8')).split('\n')
        assert.equal(lines.pop(), '')
        assert.equal(lines.length, 100 * round)
        const urls = lines.map((line) => (JSON.parse(line) as Line).req.url)
        assert.deepEqual(
          urls.slice(-100),
          Array.from({ length: 100 }, (_, time) => `/x?time=${time}`),
        )
      }
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  test('many loggers of one stream listen to it once', async () => {
    const stream = new PassThrough()
    for (let count = 0; count < 20; count++) kit.app().use(logger({ destination: stream }))
    assert.equal(stream.listenerCount('error'), 1)
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

  test('a destination or logger that fails costs no request', async () => {
    const written: string[] = []
    const { write } = process.stderr
    process.stderr.write = ((text: string) => written.push(text) > 0) as typeof write
    try {
      const fail = (): never => {
        throw new Error('disk full')
      }
      const reject = (): Promise<never> => Promise.reject(new Error('disk full'))
      for (const options of [
        { destination: { write: fail } },
        { destination: { write: reject } },
        { logger: { info: fail, warn: fail, error: fail } },
        { logger: { info: reject, warn: reject, error: reject } },
      ]) {
        const { app } = appWith(options)
        for (const path of ['/x', '/none', '/x']) {
          const reply = await app.inject(path)
          assert.equal(reply.status, path === '/x' ? 200 : 404)
        }
      }
    } finally {
      process.stderr.write = write
    }
    assert.equal(written.filter((text) => text.includes('disk full')).length, 4, written.join(''))
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
