/** What a line of `ctx.log` and `app.log` has. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { pino } from 'pino'
import { type Log, type LogOptions } from '../../src/index.ts'
import { type Line, linesOf, membersOf } from './lines-of.ts'

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
