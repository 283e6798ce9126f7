/** What a line about a request has. */
import assert from 'node:assert/strict'
import { hostname } from 'node:os'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'
import { testClock, turns } from '@volant/test-kit'
import { pino } from 'pino'
import { logger, requestId } from 'volant'
import * as z from 'zod'
import { deferred, eventually, Kit } from '../kit.ts'
import { appWith, type Line, Lines, logged } from './kit.ts'

const kit = new Kit()

describe('logger', () => {
  test('a line has what pino would write, in its order', async (t) => {
    const clock = testClock(t)
    clock.setDate(1_800_000_000_007)
    const { app, lines } = appWith()
    app.get('/later', async () => {
      await clock.advance(12.3456)
      return 'later'
    })
    await kit.serve(app, async (live) => {
      await live.ask('/users/7?a=1&b=%20')
      await live.ask('/later')
      await lines.wait(2)
    })
    const [line, later] = lines.all as [Line, Line]
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
    assert.deepEqual([line.time, later.time], [1_800_000_000_007, 1_800_000_000_019])
    assert.equal(line.pid, process.pid)
    assert.equal(line.hostname, hostname())
    assert.match(line.reqId, /^[\w-]{8,}$/)
    assert.deepEqual(line.req, { method: 'GET', url: '/users/7?a=1&b=%20', remoteAddress: '127.0.0.1' })
    assert.deepEqual(line.res, { statusCode: 200 })
    assert.deepEqual([line.responseTime, later.responseTime], [0, 12.346])
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
      await turns()
      if (!(error instanceof TypeError)) return undefined
      ctx.text('mended', 409)
      await turns()
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
})
