import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  HTTPError,
  middleware,
  type OutgoingReply,
  type SendHook,
  type VolantError,
} from '../../src/index.ts'
import { kit, reported } from './kit.ts'

describe('an onSend hook', () => {
  test('sees every kind of reply as it will be sent', async () => {
    const app = kit.app()
    const seen: unknown[] = []
    app.onSend(async (_, reply) => {
      const { status, body, length, headers } = reply
      const kind =
        body === null || typeof body === 'string' ? body : body instanceof Uint8Array ? [...body] : 'stream'
      seen.push([status, headers.get('Content-Type')?.split(';')[0], kind, length])
    })
    app.get('/json', () => ({ ü: 1 }))
    app.get('/text', (ctx) => ctx.text('ü', 201))
    app.get('/bytes', () => new Uint8Array([1, 2]))
    app.get('/typed', (ctx) => (ctx.header('Content-Type', 'image/png'), new Uint8Array([1])))
    app.get('/empty', () => null)
    app.get('/redirect', (ctx) => ctx.redirect('/x'))
    app.get('/response', () => new Response(null, { status: 202 }))
    app.get('/blob', () => new Blob(['abc'], { type: 'text/css' }))
    app.get('/stream', (ctx) => ctx.stream(['a'], { length: 1, type: null }))
    app.get('/generated', async function* () {
      yield 'a'
    })
    const paths = [
      'json',
      'text',
      'bytes',
      'typed',
      'empty',
      'redirect',
      'response',
      'blob',
      'stream',
      'generated',
    ]
    for (const path of paths) await app.inject(`/${path}`)
    assert.deepEqual(seen, [
      [200, 'application/json', '{"ü":1}', 8],
      [201, 'text/plain', 'ü', 2],
      [200, 'application/octet-stream', [1, 2], 2],
      [200, 'image/png', [1], 1],
      [204, undefined, null, 0],
      [302, undefined, null, 0],
      [202, undefined, null, 0],
      [200, 'text/css', 'stream', 3],
      [200, undefined, 'stream', 1],
      [200, 'application/octet-stream', 'stream', undefined],
    ])
  })

  test('changes status and headers, also through the context', async () => {
    const app = kit.app()
    app.onSend((ctx, reply) => {
      assert.equal(ctx.replied, true)
      assert.equal(reply.headers.has('X-OLD'), true)
      reply.headers.delete('x-Old')
      reply.headers.set('x-new', 7)
      reply.headers.append('x-new', '8')
      reply.headers.append('set-cookie', 'a=1')
      ctx.status(202).header('x-ctx', '1').append('x-ctx', '2').cookie('b', '2').clearCookie('c')
      assert.equal(reply.status, 202)
      reply.status = 203
      assert.deepEqual(
        reply.headers.getSetCookie().map((text) => text.split('=')[0]),
        ['z', 'a', 'b', 'c'],
      )
      assert.equal(reply.headers.get('x-new'), '7, 8')
    })
    app.get('/x', (ctx) => ctx.header('X-Old', '1').cookie('z', '0').text('x'))
    const statuses: number[] = []
    app.onResponse((_, { status }) => void statuses.push(status))
    const { status, headers } = await app.inject('/x')
    assert.deepEqual(
      [status, headers['x-old'], headers['x-new'], headers['x-ctx'], headers['set-cookie']?.length],
      [203, undefined, '7, 8', '1, 2', 4],
    )
    assert.deepEqual(statuses, [203])
  })

  test('is refused what a reply may not have, and answers 500 then', async () => {
    const rows: [SendHook, string][] = [
      [(_, reply) => void (reply.status = 101), 'E_BAD_STATUS'],
      [(_, reply) => void (reply.status = 600), 'E_BAD_STATUS'],
      [(_, { headers }) => headers.set('content-length', '1'), 'E_BAD_HEADER'],
      [(_, { headers }) => headers.append('Transfer-Encoding', 'chunked'), 'E_BAD_HEADER'],
      [(_, { headers }) => headers.delete('connection'), 'E_BAD_HEADER'],
      [(_, { headers }) => headers.set('x-a', 'b\r\nc: d'), 'E_BAD_HEADER'],
      [(_, reply) => void (reply.body = { a: 1 } as never), 'E_NOT_SERIALISABLE'],
      [(_, reply) => void (reply.body = undefined as never), 'E_NOT_SERIALISABLE'],
      [(_, reply) => void (reply.length = 3), 'E_BAD_OPTION'],
      [(_, reply) => ((reply.body = ['a']), void (reply.length = -1)), 'E_BAD_OPTION'],
      [(_, reply) => void (reply.body = 'x'.repeat(70_000)), 'E_REPLY_TOO_LARGE'],
      [(() => 'a body') as never, 'E_BAD_HANDLER'],
      [(async () => 'a body') as never, 'E_BAD_HANDLER'],
    ]
    for (const [hook, code] of rows) {
      const app = kit.app({ limits: { maxBufferedReplies: 65_536 } })
      app.onSend(hook)
      app.get('/x', () => 'x')
      const { status, headers } = await app.inject('/x')
      assert.deepEqual(
        [status, headers['content-type']],
        [500, 'application/problem+json; charset=utf-8'],
        code,
      )
      assert.deepEqual(
        kit.reports.splice(0).map((error) => (error as VolantError).code),
        [code],
      )
    }
  })

  test('cannot reply, and is told what to do', async () => {
    const app = kit.app()
    app.onSend((ctx) => void ctx.json({}))
    app.get('/x', () => 'x')
    assert.equal((await app.inject('/x')).text(), 'x')
    assert.deepEqual(reported(), [
      'ctx.json was called after GET /x had its reply, and was dropped: an onSend hook sets reply.body',
    ])
  })

  test('that changes a reply which has left is told so', async () => {
    const app = kit.app()
    let kept: OutgoingReply | null = null
    app.onSend((_, reply) => void (kept = reply))
    app.get('/x', () => 'x')
    await app.inject('/x')
    const reply = kept as unknown as OutgoingReply
    reply.body = 'late'
    reply.headers.set('x-late', '1')
    reply.headers.delete('x-late')
    assert.equal(reported().filter((text) => text.includes('had its reply, and was dropped')).length, 3)
  })

  test('sees a reply that is too long, and may make it fit', async () => {
    const app = kit.app({ limits: { maxBufferedReplies: 65_536 } })
    app
      .with(middleware({ onSend: (_, reply) => void (reply.body = 'short') }, (_, next) => next()))
      .get('/x', () => 'x'.repeat(70_000))
    app.get('/long', () => 'x'.repeat(70_000))
    assert.equal((await app.inject('/x')).text(), 'short')
    assert.equal((await app.inject('/long')).status, 500)
    assert.equal(reported().length, 1)
  })

  test('an error whose document is too long is a short 500', async () => {
    const app = kit.app({ limits: { maxBufferedReplies: 65_536 } })
    app.get('/x', () => {
      throw new HTTPError(422, 'x'.repeat(70_000))
    })
    const { status, headers } = await app.inject('/x')
    assert.deepEqual([status, headers['content-type']], [500, 'application/problem+json; charset=utf-8'])
    assert.deepEqual(
      kit.reports.splice(0).map((error) => (error as VolantError).code),
      ['E_REPLY_TOO_LARGE'],
    )
  })
})
