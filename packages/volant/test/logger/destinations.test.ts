/** Where lines about requests go. */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, test } from 'node:test'
import { pino } from 'pino'
import { logger, type LoggerOptions } from 'volant'
import { Kit } from '../kit.ts'
import { appWith, type Line, Lines } from './kit.ts'

const kit = new Kit()

describe('logger', () => {
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
})
