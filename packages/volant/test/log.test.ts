/** Lines of `ctx.log` and `app.log`: what they have, what is kept out of them, and what cannot be written. */
import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { pino } from 'pino'
import {
  type AppOptions,
  createApp,
  type Log,
  logger,
  type LogOptions,
  type VolantError,
} from '../src/index.ts'
import { log as requestLog } from '../src/log/index.ts'
import { Kit } from './kit.ts'

const kit = new Kit()

type Line = Record<string, unknown> & { level: number; msg: string; err: Record<string, unknown> }

/** Gives the lines that `write` makes, each of which has to be one line of JSON. */
function linesOf(write: (log: Log) => void, options: LogOptions = {}): Line[] {
  const texts: string[] = []
  const app = kit.app({ log: { destination: { write: (text) => void texts.push(text) }, ...options } })
  write(app.log)
  return texts.map((text) => {
    assert.equal(text.indexOf('\n'), text.length - 1)
    // oxlint-disable-next-line no-control-regex -- they are what is looked for
    assert.doesNotMatch(text.slice(0, -1), /[\x00-\x1f\x7f-\x9f\u2028\u2029]/)
    return JSON.parse(text) as Line
  })
}

/** Gives the members of one line that are not the logger's own. */
function membersOf(fields: unknown, options: LogOptions = {}): Record<string, unknown> {
  const [line] = linesOf((log) => log.info(fields, 'x'), options) as [Line]
  const { level, time, pid, hostname: host, msg, ...members } = line
  assert.deepEqual([level, pid, host, msg], [30, process.pid, hostname(), 'x'])
  assert.ok((time as number) > 1e12)
  return members
}

describe('lines', () => {
  test('a line is the one pino would write', () => {
    const theirs: string[] = []
    const calls: ((log: Log) => void)[] = [
      (log) => log.info('plain'),
      (log) => log.trace('least'),
      (log) => log.fatal('last'),
      (log) =>
        log.warn({ a: 1, b: 'x', c: null, d: undefined, e: [1, { f: true }], g: new Date(0) }, 'fields'),
      (log) => log.debug({ msg: 'as a member' }),
      (log) => log.info({ orderId: 7 }),
      (log) => log.info('%s has %d of %%', 'Ada', 3),
      (log) => log.info({ a: 1 }, 'with %s', 'both'),
      (log) => log.child({ module: 'orders', n: 1 }).child({ deep: true }).error({ a: 1 }, 'child'),
      (log) => log.info({ 'a"b\\': '\n\u{1f600}' }, 'quotes "'),
      (log) => log.info({ n: NaN, big: 12n, f: () => 1 }, 'odd'),
    ]
    const ours = linesOf((log) => calls.forEach((call) => call(log)), { level: 'trace' })
    const other = pino({ level: 'trace' }, { write: (text: string) => void theirs.push(text) })
    calls.forEach((call) => call(other as unknown as Log))
    assert.deepEqual(
      ours.map((line) => ({ ...line, time: 0 })),
      theirs.map((text) => ({ ...(JSON.parse(text) as Line), time: 0 })),
    )
    assert.deepEqual(
      ours.map((line) => Object.keys(line)),
      theirs.map((text) => Object.keys(JSON.parse(text) as Line)),
    )
  })

  test('levels below the least are not written', () => {
    const all = (log: Log) => {
      for (const level of ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const) {
        assert.equal(typeof log.isLevelEnabled(level), 'boolean')
        log[level](level)
      }
    }
    const levels = (level?: LogOptions['level']) => linesOf(all, { level }).map((line) => line.level)
    assert.deepEqual(levels(), [30, 40, 50, 60])
    assert.deepEqual(levels('trace'), [10, 20, 30, 40, 50, 60])
    assert.deepEqual(levels('error'), [50, 60])
    assert.deepEqual(levels('silent'), [])
    linesOf(
      (log) => assert.deepEqual([log.isLevelEnabled('info'), log.isLevelEnabled('warn')], [false, true]),
      {
        level: 'warn',
      },
    )
  })

  test('an error is the member err, with its causes, wherever it stands', () => {
    const error = Object.assign(new TypeError('outer', { cause: new Error('inner', { cause: 'text' }) }), {
      code: 'E_MINE',
      config: { headers: { authorization: 'Bearer s3cret' } },
    })
    const lines = linesOf((log) => {
      log.error(error)
      log.error(error, 'said')
      log.error('behind', error)
      log.error({ error }, 'member')
      log.error(new AggregateError([new Error('one'), new Error('two')], 'all failed'))
    })
    const [first, second, third, fourth, fifth] = lines as [Line, Line, Line, Line, Line]
    assert.deepEqual([first.msg, second.msg, third.msg], ['outer', 'said', 'behind'])
    for (const err of [first.err, second.err, third.err, fourth['error']] as Line[]) {
      assert.deepEqual(Object.keys(err), ['type', 'message', 'stack', 'code'])
      assert.deepEqual([err['type'], err['message'], err['code']], ['TypeError', 'outer', 'E_MINE'])
      assert.match(
        String(err['stack']),
        /^TypeError: outer\n[^]*caused by: Error: inner\n[^]*caused by: text$/,
      )
    }
    assert.deepEqual(
      (fifth.err['aggregateErrors'] as Line[]).map(({ message }) => message),
      ['one', 'two'],
    )
  })

  test('what was thrown and is no error is shown', () => {
    const lines = linesOf((log) => {
      log.error('text')
      log.error(undefined, 'nothing')
      log.error(null, 'null')
      log.error(42)
      log.error(7n, 'big')
      log.error(Symbol('s'))
      log.error(() => 1)
    })
    assert.deepEqual(
      lines.map(({ msg }) => msg),
      ['text', 'nothing', 'null', '42', 'big', 'Symbol(s)', '() => 1'],
    )
  })

  test('no member takes the place of one of the line', () => {
    const forged = { level: 60, time: 0, pid: 1, hostname: 'x', reqId: 'y', msg: 'forged', mine: 1 }
    assert.deepEqual(membersOf(forged), { mine: 1 })
    const [line] = linesOf((log) => log.child(forged).info('x')) as [Line]
    assert.deepEqual([line.level, line['pid'], line.msg, line['mine']], [30, process.pid, 'x', 1])
  })
})

describe('hostile values', () => {
  const thrower = new Proxy(
    {},
    {
      get: () => {
        throw new Error('get')
      },
      ownKeys: () => {
        throw new Error('keys')
      },
      getPrototypeOf: () => {
        throw new Error('prototype')
      },
    },
  )
  const round: Record<string, unknown> = { a: 1 }
  round['self'] = { round }
  const rows: [string, unknown, Record<string, unknown>][] = [
    [
      'a getter that throws',
      {
        get a(): never {
          throw new Error('no')
        },
        b: 1,
      },
      { a: '[Unreadable]', b: 1 },
    ],
    ['a toJSON that throws', { a: { toJSON: () => thrower.constructor } }, { a: '[Unreadable]' }],
    [
      'a toJSON that gives itself',
      {
        a: {
          toJSON() {
            return this
          },
          b: 1,
        },
      },
      { a: { b: 1 } },
    ],
    ['a cycle', { round }, { round: { a: 1, self: { round: '[Circular]' } } }],
    ['a BigInt', { a: 2n ** 80n, b: -5n }, { a: String(2n ** 80n), b: -5 }],
    ['a BigInt of a million digits', { a: 1n << 4_000_000n }, { a: '[BigInt]' }],
    ['a proxy that throws', { a: thrower, b: 1 }, { a: '[Unreadable]', b: 1 }],
    ['a proxy in front', thrower, {}],
    ['bytes', { a: Buffer.alloc(1e6), b: new ArrayBuffer(3) }, { a: '[1000000 bytes]', b: '[3 bytes]' }],
    ['a map and a set', { a: new Map([['x', 1]]), b: new Set([1, 2]) }, { a: { x: 1 }, b: [1, 2] }],
    ['an emitter', { socket: new EventEmitter() }, { socket: '[EventEmitter]' }],
    ['an invalid date', { a: new Date(NaN) }, { a: null }],
    ['a sparse array', { a: Object.assign([], { length: 4_000_000_000 }).length }, { a: 4_000_000_000 }],
    ['a prototype', JSON.parse('{"__proto__":{"a":1}}'), JSON.parse('{"__proto__":{"a":1}}')],
  ]
  for (const [name, given, wanted] of rows) {
    test(name, () => assert.deepEqual(Object.entries(membersOf(given)), Object.entries(wanted)))
  }

  test('an error whose members throw', () => {
    const error = new Error('x')
    for (const name of ['message', 'stack', 'cause', 'code', 'name', 'constructor']) {
      const bad = Object.defineProperty(new Error('x'), name, {
        get: () => {
          throw new Error(`no ${name}`)
        },
      })
      const [line] = linesOf((log) => log.error(bad, 'x')) as [Line]
      assert.equal(line.level, 50)
    }
    error.cause = error
    const [line] = linesOf((log) => log.error(error, 'x')) as [Line]
    assert.equal(String(line.err['stack']).match(/caused by/g)?.length, 5)
  })

  test('no line is longer than its bound, however deep, wide or long a value is', () => {
    let deep: unknown = 'bottom'
    for (let at = 0; at < 100_000; at++) deep = { deep }
    const values: unknown[] = [
      { deep },
      {
        wide: Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`key${at}`, 'x'.repeat(1_000)])),
      },
      { list: Array.from({ length: 1e6 }, () => 'x'.repeat(1_000)) },
      { text: '\n'.repeat(1e7) },
      { ['n'.repeat(1e6)]: 1 },
      new Error('m'.repeat(1e7), { cause: new Error('c'.repeat(1e7)) }),
      { errors: Array.from({ length: 1_000 }, () => new Error('m'.repeat(1e5))) },
    ]
    const sizes: number[] = []
    const app = kit.app({ log: { destination: { write: (text) => void sizes.push(text.length) } } })
    for (const value of values) app.log.info(value, 'm'.repeat(1e6))
    assert.equal(sizes.length, values.length)
    for (const [at, size] of sizes.entries()) assert.ok(size < 600_000, `${at}: ${size}`)
    const { deep: shown } = membersOf({ deep })
    assert.match(JSON.stringify(shown), /"\[Object\]"/)
  })
})

describe('secrets', () => {
  const secret = 's3cret'
  test('the usual names are kept out at any depth, however they are written', () => {
    const names = [
      'authorization',
      'Cookie',
      'set-cookie',
      'password',
      'access_token',
      'apiKey',
      'X-API-Key',
      'clientSecret',
    ]
    const fields = { user: { list: [Object.fromEntries(names.map((name) => [name, secret]))] }, open: 'yes' }
    const members = membersOf(fields)
    assert.doesNotMatch(JSON.stringify(members), /s3cret/)
    assert.match(JSON.stringify(members), /"Cookie":"\[Redacted\]".*"open":"yes"/)
    assert.match(JSON.stringify(membersOf(fields, { redact: false })), /s3cret/)
    const [child] = linesOf((log) => log.child({ token: secret }).info('x %o', { password: secret })) as [
      Line,
    ]
    assert.doesNotMatch(JSON.stringify(child), /s3cret/)
  })

  test('names and paths of the option', () => {
    const redact = ['iban', 'card.number', 'orders.*.note', 'deep["odd name"].x', 'req.headers.x-key']
    const members = membersOf(
      {
        a: { iban: secret },
        card: { number: secret, kind: 'visa' },
        number: 1,
        orders: [{ note: secret, id: 1 }],
        deep: { 'odd name': { x: secret } },
        password: secret,
      },
      { redact },
    )
    assert.deepEqual(members, {
      a: { iban: '[Redacted]' },
      card: { number: '[Redacted]', kind: 'visa' },
      number: 1,
      orders: [{ note: '[Redacted]', id: 1 }],
      deep: { 'odd name': { x: '[Redacted]' } },
      password: '[Redacted]',
    })
  })

  test('logger() without a destination shares destination, least level and secrets', async () => {
    const lines: Line[] = []
    const destination = { write: (text: string) => void lines.push(JSON.parse(text) as Line) }
    const app = kit.app({ log: { destination, level: 'warn', redact: ['iban', 'req.headers.x-key'] } })
    app.use(logger({ headers: ['x-key', 'x-open', 'x-api-key'], props: () => ({ password: secret }) }))
    app.get('/x', () => 'x')
    const headers = { 'x-key': secret, 'x-open': 'yes', 'x-api-key': secret }
    await app.inject({ url: '/x', headers })
    await app.inject({ url: `/none?iban=${secret}&a=1&Access-Token=${secret}`, headers })
    assert.equal(lines.length, 1)
    assert.equal(lines[0]?.level, 40)
    assert.doesNotMatch(JSON.stringify(lines), /s3cret/)
    const { url } = (lines[0] as unknown as { req: { url: string } }).req
    assert.equal(url, '/none?iban=[Redacted]&a=1&Access-Token=[Redacted]')
  })
})

describe('the option log', () => {
  test('an instance of pino is used through its children', async () => {
    const lines: Line[] = []
    const theirs: Log = pino(
      { base: { service: 'shop' } },
      { write: (text: string) => void lines.push(JSON.parse(text) as Line) },
    )
    const app = kit.app({ log: theirs })
    assert.equal(app.log, theirs)
    app.use(logger())
    app.get('/x', (ctx) => {
      ctx.log.info({ orderId: 7 }, 'paid')
      requestLog.child({ module: 'm' }).warn('by storage')
      return { id: ctx.id }
    })
    const { id } = (await app.inject('/x')).json() as { id: string }
    assert.deepEqual(
      lines.map(({ level, service, reqId, msg, orderId, module }) => [
        level,
        service,
        reqId,
        msg,
        orderId,
        module,
      ]),
      [
        [30, 'shop', id, 'paid', 7, undefined],
        [40, 'shop', id, 'by storage', undefined, 'm'],
        [30, 'shop', id, 'request completed', undefined, undefined],
      ],
    )
  })

  test('false writes nothing, also for logger()', async () => {
    const app = kit.app({ log: false })
    app.use(logger())
    app.get('/x', (ctx) => {
      ctx.log.fatal('nothing')
      assert.equal(ctx.log.child({ a: 1 }).isLevelEnabled('fatal'), false)
      return 'x'
    })
    assert.equal((await app.inject('/x')).status, 200)
  })

  test('ctx.log is one object of a request, and follows its id', async () => {
    const lines: Line[] = []
    const app = kit.app({
      log: { destination: { write: (text) => void lines.push(JSON.parse(text) as Line) } },
    })
    app.get('/x', (ctx) => {
      assert.equal(ctx.log, ctx.log)
      ctx.log.info('x')
      return 'x'
    })
    await app.inject('/x')
    await app.inject('/x')
    assert.notEqual(lines[0]?.['reqId'], lines[1]?.['reqId'])
  })

  test('lines of a file are written when the app closes', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'volant-log-'))
    try {
      const path = join(folder, 'app.log')
      const app = kit.app({ log: { destination: path } })
      app.get('/x', (ctx) => {
        ctx.log.info('in the file')
        return 'x'
      })
      await app.inject('/x')
      await app.close()
      assert.match(await readFile(path, 'utf8'), /^\{"level":30,.*"msg":"in the file"\}\n$/)
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  const nonsense: [string, unknown, RegExp][] = [
    ['a text', 'app.log', /createApp: log takes an object of options, not "app.log"/],
    ['null', null, /createApp: log takes/],
    ['true', true, /createApp: log takes/],
    [
      'console',
      console,
      /createApp: log takes options, false, or a logger such as pino\(\): this one has no fatal, child/,
    ],
    ['a level', { level: 'loud' }, /log\.level takes trace, debug/],
    ['a number', { level: 30 }, /log\.level/],
    ['a destination', { destination: 1 }, /log\.destination takes/],
    ['a folder', { destination: tmpdir() }, /log\.destination takes a file that can be written to \(EISDIR/],
    ['a text to redact', { redact: 'password' }, /log\.redact takes an array/],
    ['a path to redact', { redact: ['a..b'] }, /log\.redact takes names and paths/],
    ['no path to redact', { redact: [1] }, /log\.redact takes names and paths/],
    ['serializers', { serializers: {} }, /given as it is: log: pino/],
    ['an option of Fastify', { file: 'x' }, /did you mean "destination"/],
    ['a typo', { levl: 'info' }, /did you mean "level"/],
  ]
  for (const [name, given, message] of nonsense) {
    test(`nonsense is refused: ${name}`, () => {
      assert.throws(
        () => createApp({ log: given } as AppOptions),
        (error: VolantError) => error.code === 'E_BAD_OPTION' && message.test(error.message),
      )
    })
  }
})

test('the password in a URL is kept out', () => {
  const [line] = linesOf((log) => log.info({ store: new URL('redis://app:se%2Fcret@cache:6379/0') }))
  assert.equal(line?.['store'], 'redis://app:[Redacted]@cache:6379/0')
  const [off] = linesOf((log) => log.info({ url: new URL('https://app:secret@host/') }), { redact: false })
  assert.equal(off?.['url'], 'https://app:secret@host/')
})
