/** The option `log` of an app. */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { pino } from 'pino'
import { type AppOptions, createApp, type Log, logger, type VolantError } from '../../src/index.ts'
import { log as requestLog } from '../../src/log/index.ts'
import { Kit } from '../kit.ts'
import { type Line } from './lines-of.ts'

const kit = new Kit()

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
