import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { testClock } from '@volant/test-kit'
import { idempotency, memoryKeys } from 'volant/idempotency'
import { HTTPError } from '../../src/index.ts'
import { deferred, type Live, type Reply, stderrLines } from '../kit.ts'
import { codeOf, counting, kit, pay } from './kit.ts'

describe('a request with Idempotency-Key', () => {
  test('runs once, and its repetition has the same status, fields and body', async () => {
    const app = counting()
    await kit.serve(app, async (live) => {
      const first = await pay(live, '"8e03978e-40d5-43dd"')
      const again = await pay(live, '8e03978e-40d5-43dd')
      assert.deepEqual([first.status, app.runs.count], [201, 1])
      assert.equal(first.headers['idempotent-replayed'], undefined)
      assert.equal(again.headers['idempotent-replayed'], 'true')
      const { 'idempotent-replayed': _, date: __, ...fields } = again.headers
      const { date: ___, ...own } = first.headers
      assert.deepEqual([again.status, fields, again.text], [first.status, own, first.text])
      assert.equal(again.headers['x-two'], 'a, b')
      await pay(live, 'another')
      await pay(live, null)
      await pay(live, null)
      assert.equal(app.runs.count, 4)
    })
  })

  test('is refused where the key is missing, malformed, or that of another request', async () => {
    const app = counting({ required: true })
    app.get('/', () => 'x')
    await kit.serve(app, async (live) => {
      assert.deepEqual(codeOf(await pay(live, null)), [400, 'E_IDEMPOTENCY_KEY'])
      for (const key of ['', '""', '"a', 'a b', 'a, b', '"a";x=1', 'x'.repeat(256), 'ü', '"a\\b"']) {
        assert.deepEqual(codeOf(await pay(live, key)), [400, 'E_IDEMPOTENCY_KEY'], key)
      }
      assert.equal((await pay(live, 'x'.repeat(255))).status, 201)
      assert.equal((await pay(live, '"with \\"quotes\\" "')).status, 201)
      assert.equal(app.runs.count, 2)
      assert.deepEqual(codeOf(await pay(live, 'x'.repeat(255), '{"cents":6}')), [422, 'E_IDEMPOTENCY_REUSED'])
      assert.equal((await live.ask('/')).status, 200)
      assert.equal(app.runs.count, 2)
    })
  })

  test('is 409 while the first one is at work, whose key is held on meanwhile', async (t) => {
    const clock = testClock(t)
    const gate = deferred<void>()
    const app = counting({ lockTimeout: 1_000 }, (each) =>
      each.post('/slow', async () => {
        await gate.promise
        return 'done'
      }),
    )
    await kit.serve(app, async (live) => {
      const ask = (): Promise<Reply> =>
        live.ask('/slow', { method: 'POST', headers: { 'idempotency-key': 'k' } })
      const first = ask()
      // Several times the time after which the key of a process that died would be free.
      for (let time = 0; time < 25; time++) {
        await clock.advance(100)
        const reply = await ask()
        assert.deepEqual(codeOf(reply), [409, 'E_IDEMPOTENCY_BUSY'])
        assert.equal(reply.headers['retry-after'], '1')
      }
      gate.resolve()
      assert.equal((await first).text, 'done')
      assert.equal((await ask()).headers['idempotent-replayed'], 'true')
    })
  })

  test('runs again where it failed, unless the reply says what is wrong with it', async () => {
    let status = 503
    let count = 0
    const app = counting({}, (each) => {
      each.post('/fails', () => {
        count++
        if (status === 500) throw new Error('broken')
        if (status >= 400) throw new HTTPError(status, 'no')
        return 'fine'
      })
    })
    await kit.serve(app, async (live) => {
      const ask = async (): Promise<number> =>
        (await live.ask('/fails', { method: 'POST', headers: { 'idempotency-key': 'k' } })).status
      for (status of [503, 500, 401, 408, 409, 425, 429]) assert.equal(await ask(), status)
      assert.equal(count, 7)
      status = 404
      assert.equal(await ask(), 404)
      status = 200
      assert.equal(await ask(), 404)
      assert.equal(count, 8)
    })
  })

  test('keeps what `keeps` says', async () => {
    const app = counting({ keeps: (ctx, status) => ctx.path === '/pay' && status !== 201 })
    await kit.serve(app, async (live) => {
      await pay(live, 'k')
      await pay(live, 'k')
      assert.equal(app.runs.count, 2)
    })
  })

  test('has bytes, no body, and no cookies in its repetition', async () => {
    const app = counting({}, (each) => {
      each.post('/bytes', (ctx) => {
        ctx.cookie('sid', 'secret')
        return ctx.bytes(new Uint8Array([0, 255, 128]))
      })
      each.post('/empty', (ctx) => void ctx.status(204))
    })
    await kit.serve(app, async (live) => {
      const ask = (path: string): Promise<Reply> =>
        live.ask(path, { method: 'POST', headers: { 'idempotency-key': path } })
      const [first, again] = [await ask('/bytes'), await ask('/bytes')]
      assert.deepEqual([first.setCookies.length, again.setCookies.length], [1, 0])
      assert.deepEqual([...again.body], [0, 255, 128])
      assert.equal(again.headers['content-type'], first.headers['content-type'])
      const [, empty] = [await ask('/empty'), await ask('/empty')]
      assert.deepEqual([empty.status, empty.text, empty.headers['content-type']], [204, '', undefined])
      assert.equal(empty.headers['idempotent-replayed'], 'true')
    })
  })

  test('never runs twice where its reply cannot be kept: it is 409 then', async () => {
    let count = 0
    const app = counting({ maxReplySize: 10 }, (each) => {
      each.post('/stream', (ctx) => {
        count++
        return ctx.stream(['a', 'b'])
      })
      each.post('/long', () => {
        count++
        return 'x'.repeat(11)
      })
      each.post('/short', () => 'x'.repeat(10))
    })
    await kit.serve(app, async (live) => {
      const ask = (path: string): Promise<Reply> =>
        live.ask(path, { method: 'POST', headers: { 'idempotency-key': path } })
      const lines = await stderrLines(async () => {
        assert.equal((await ask('/stream')).text, 'ab')
        assert.equal((await ask('/long')).text.length, 11)
        await ask('/short')
      })
      assert.equal(lines.length, 2)
      assert.match(
        lines.join(''),
        /POST \/stream is a stream.*POST \/long has 11 bytes, and maxReplySize is 10/s,
      )
      for (const path of ['/stream', '/long'])
        assert.deepEqual(codeOf(await ask(path)), [409, 'E_IDEMPOTENCY_LOST'])
      assert.equal((await ask('/short')).headers['idempotent-replayed'], 'true')
      assert.equal(count, 2)
    })
  })

  test('passes send hooks once: those behind it changed what is kept, those in front see each reply', async () => {
    const app = kit.app()
    let id = 0
    app.use((ctx, next) => {
      ctx.header('x-request', String(++id))
      return next()
    })
    app.onSend((_, reply) => void reply.headers.set('x-outer', `${reply.headers.get('x-outer') ?? ''}o`))
    app.use(idempotency({ store: memoryKeys() }))
    app.group('/in', (group) => {
      group.onSend((_, reply) => {
        reply.body = `<${String(reply.body)}>`
        reply.headers.append('x-inner', 'i')
      })
      group.post('/', () => 'value')
    })
    await kit.serve(app, async (live) => {
      const ask = (): Promise<Reply> =>
        live.ask('/in', { method: 'POST', headers: { 'idempotency-key': 'k' } })
      for (const request of ['1', '2']) {
        const { text, headers } = await ask()
        assert.equal(text, '<value>')
        assert.deepEqual([headers['x-request'], headers['x-outer'], headers['x-inner']], [request, 'o', 'i'])
      }
    })
  })

  test('is compared by what `fingerprint` gives; a streamed body needs one', async () => {
    const fingerprint = (): string => 'same'
    const app = counting({ fingerprint }, (each) => each.post('/up', { bodyMode: 'stream' }, () => 'up'))
    const without = counting({}, (each) => each.post('/up', { bodyMode: 'stream' }, () => 'up'))
    const up = (live: Live): Promise<Reply> =>
      live.ask('/up', { method: 'POST', headers: { 'idempotency-key': 'k' }, body: 'x' })
    await kit.serve(app, async (live) => {
      await pay(live, 'k')
      assert.equal((await pay(live, 'k', '{"cents":6}')).headers['idempotent-replayed'], 'true')
      assert.equal((await up(live)).text, (await pay(live, 'k')).text)
    })
    await kit.serve(without, async (live) => {
      assert.equal((await up(live)).status, 500)
      assert.match(
        String(kit.reports.at(-1)),
        /cannot compare the body of POST \/up, which the handler streams/,
      )
    })
  })
})
