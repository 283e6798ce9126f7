import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { describe, mock, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { createApp, encodeEvent, eventText, type EventsOptions, type EventStream, VolantError } from 'volant'

const written: [name: string, value: unknown, text: string][] = [
  ['a text', 'hello', 'data: hello\n\n'],
  ['an empty text', '', 'data: \n\n'],
  ['a text that begins with a space', ' x', 'data:  x\n\n'],
  ['a text with a colon', 'a: b', 'data: a: b\n\n'],
  ['lines that end with LF', 'a\nb', 'data: a\ndata: b\n\n'],
  ['lines that end with CR', 'a\rb', 'data: a\ndata: b\n\n'],
  ['lines that end with CRLF', 'a\r\nb', 'data: a\ndata: b\n\n'],
  ['a line break at the end', 'a\n', 'data: a\ndata: \n\n'],
  ['CR before CRLF', 'a\r\r\nb', 'data: a\ndata: \ndata: b\n\n'],
  ['a field in the data', 'a\nid: 5\n\ndata: b', 'data: a\ndata: id: 5\ndata: \ndata: data: b\n\n'],
  ['other separators of Unicode', 'a\u2028b\u0085c\vd', 'data: a\u2028b\u0085c\vd\n\n'],
  ['an object', { a: 'x\r\ny' }, 'data: {"a":"x\\r\\ny"}\n\n'],
  ['an object with an id of its own', { id: 5, name: 'x' }, 'data: {"id":5,"name":"x"}\n\n'],
  ['an object with data and more', { data: [1], total: 1 }, 'data: {"data":[1],"total":1}\n\n'],
  ['an empty object', {}, 'data: {}\n\n'],
  ['an array', [1, 2], 'data: [1,2]\n\n'],
  ['a number', 5, 'data: 5\n\n'],
  ['false', false, 'data: false\n\n'],
  ['null', null, 'data: null\n\n'],
  ['a date', new Date(0), 'data: "1970-01-01T00:00:00.000Z"\n\n'],
  [
    'an event',
    { data: { a: 1 }, event: 'tick', id: 'x:1', retry: 10, comment: 'hi' },
    ': hi\nretry: 10\nid: x:1\nevent: tick\ndata: {"a":1}\n\n',
  ],
  ['an event with text', { data: 'a\nb', event: 'tick' }, 'event: tick\ndata: a\ndata: b\n\n'],
  ['an event with null', { data: null }, 'data: null\n\n'],
  ['an id that is a number', { data: 'x', id: 0 }, 'id: 0\ndata: x\n\n'],
  ['an empty id, which takes the last one back', { data: 'x', id: '' }, 'id: \ndata: x\n\n'],
  ['an id with a space in front', { data: 'x', id: ' 1' }, 'id:  1\ndata: x\n\n'],
  ['an empty type', { data: 'x', event: '' }, 'data: x\n\n'],
  ['fields that are undefined', { data: 'x', event: undefined, id: undefined }, 'data: x\n\n'],
  ['a comment alone', { comment: 'a\r\nb' }, ': a\n: b\n\n'],
  ['a time alone', { retry: 0 }, 'retry: 0\n\n'],
]

const refused: [name: string, value: unknown, code: string, message: RegExp][] = [
  [
    'a type with LF',
    { data: 'x', event: 'a\nb' },
    'E_BAD_EVENT',
    /^the event of a server-sent event has a line break/,
  ],
  ['a type with CR', { data: 'x', event: 'a\rdata: y' }, 'E_BAD_EVENT', /^the event of .* line break/],
  ['an id with LF', { data: 'x', id: '1\n2' }, 'E_BAD_EVENT', /^the id of .* line break/],
  ['an id with CR', { data: 'x', id: '1\r' }, 'E_BAD_EVENT', /^the id of .* line break/],
  ['an id with NUL', { data: 'x', id: 'a\0b' }, 'E_BAD_EVENT', /^the id of .* has a NUL/],
  ['an id that is an object', { data: 'x', id: {} }, 'E_BAD_EVENT', /^the id of .* is a text, not/],
  ['a type that is a number', { data: 'x', event: 5 }, 'E_BAD_EVENT', /^the event of .* is a text, not 5/],
  ['a comment that is a number', { comment: 5 }, 'E_BAD_EVENT', /^the comment of .* is a text, not 5/],
  [
    'a negative time',
    { data: 'x', retry: -1 },
    'E_BAD_EVENT',
    /^retry of .* whole number of milliseconds, not -1/,
  ],
  ['a time with a fraction', { data: 'x', retry: 0.5 }, 'E_BAD_EVENT', /not 0.5/],
  ['a time in a text', { data: 'x', retry: '5' }, 'E_BAD_EVENT', /^retry of/],
  ['undefined', undefined, 'E_NOT_SERIALISABLE', /it is undefined/],
  ['a function', () => {}, 'E_NOT_SERIALISABLE', /it is a function/],
  ['a Map', new Map([[1, 2]]), 'E_NOT_SERIALISABLE', /it is a Map/],
  ['a BigInt inside', { data: { a: 1n } }, 'E_NOT_SERIALISABLE', /a BigInt at a/],
  ['bytes', new Uint8Array(2), 'E_NOT_SERIALISABLE', /it is bytes/],
]

describe('the text of an event', () => {
  for (const [name, value, text] of written) {
    test(name, () => {
      assert.equal(eventText(value), text)
      assert.equal(Buffer.from(encodeEvent(value).bytes).toString(), text)
    })
  }
  for (const [name, value, code, message] of refused) {
    test(`${name} is refused`, () => {
      for (const write of [eventText, encodeEvent]) {
        assert.throws(
          () => write(value),
          (error: VolantError) => error.code === code && message.test(error.message),
        )
      }
    })
  }
  test('an error of toJSON is thrown as it is', () => {
    const own = new Error('own')
    const value = {
      toJSON() {
        throw own
      },
    }
    assert.throws(
      () => eventText({ data: value }),
      (error) => error === own,
    )
  })
  test('half a surrogate pair becomes U+FFFD', () => {
    assert.equal(Buffer.from(encodeEvent('a\ud800').bytes).toString(), 'data: a\ufffd\n\n')
  })
})

describe('ctx.sse in memory', () => {
  test('app.inject has all events of a stream that ends, app.fetch each as it comes', async () => {
    const app = createApp()
    app.get('/e', (ctx) => ctx.sse([1, { data: 'x', id: 7 }], { retry: 500 }))
    const { headers, text } = await app.inject('/e').then((reply) => ({ ...reply, text: reply.text() }))
    assert.equal(text, 'retry: 500\n\ndata: 1\n\nid: 7\ndata: x\n\n')
    assert.equal(headers['content-type'], 'text/event-stream')
    assert.equal(headers['cache-control'], 'no-cache, no-transform')
    assert.equal(headers['x-accel-buffering'], 'no')
    const streams: EventStream[] = []
    app.get('/f', (ctx) => ctx.sse((stream) => void streams.push(stream)))
    const reply = await app.fetch(new Request('http://x/f'))
    const reader = (reply.body as ReadableStream<Uint8Array>).getReader()
    const read = async () => Buffer.from((await reader.read()).value ?? '').toString()
    assert.equal(await read(), ':\n\n')
    const [stream] = streams as [EventStream]
    assert.equal(stream.send('now'), true)
    assert.equal(await read(), 'data: now\n\n')
    await reader.cancel()
    assert.deepEqual([stream.closed, stream.send('late')], [true, false])
  })

  test('a Cache-Control of the handler stays, a content type does not', async () => {
    const app = createApp()
    app.get('/e', (ctx) =>
      ctx.header('cache-control', 'no-store').header('content-type', 'text/plain').sse(['x']),
    )
    const { headers } = await app.inject('/e')
    assert.deepEqual([headers['cache-control'], headers['content-type']], ['no-store', 'text/event-stream'])
  })

  const options: [name: string, value: unknown, message: RegExp][] = [
    ['heartbeat below 0', { heartbeat: -1 }, /^ctx.sse: heartbeat takes/],
    ['retry that is a text', { retry: '1s' }, /^ctx.sse: retry takes/],
    ['maxBuffer that is too small', { maxBuffer: 10 }, /^ctx.sse: maxBuffer takes/],
    ['an option that does not exist', { ping: 5 }, /ctx.sse.*ping/],
  ]
  for (const [name, value, message] of options) {
    test(`${name} is refused`, async () => {
      const reports: unknown[] = []
      const app = createApp({ report: (error) => void reports.push(error) })
      app.get('/e', (ctx) => ctx.sse([], value as EventsOptions))
      assert.equal((await app.inject('/e')).status, 500)
      assert.match((reports[0] as Error).message, message)
    })
  }

  for (const source of ['a text', 5, null, {}]) {
    test(`${JSON.stringify(source)} is no source`, async () => {
      const reports: unknown[] = []
      const app = createApp({ report: (error) => void reports.push(error) })
      app.get('/e', (ctx) => ctx.sse(source as never))
      assert.equal((await app.inject('/e')).status, 500)
      assert.match((reports[0] as Error).message, /^ctx.sse takes a generator or another iterable of events/)
    })
  }

  test('a heartbeat comes after silence, once for each interval, by one timer and outside of the request', async () => {
    mock.timers.enable({ apis: ['setInterval'] })
    try {
      const context = new AsyncLocalStorage<string>()
      const app = createApp()
      const streams: EventStream[] = []
      app.get('/e', (ctx) => context.run('request', () => ctx.sse((stream) => void streams.push(stream))))
      app.get('/off', (ctx) => ctx.sse(() => {}, { heartbeat: 0 }))
      const before = mock.fn(setInterval)
      mock.method(globalThis, 'setInterval', before)
      const texts: string[] = []
      const readers = await Promise.all(
        ['/e', '/e', '/off'].map(async (path, at) => {
          const { body } = await app.fetch(new Request(`http://x${path}`))
          const reader = (body as ReadableStream<Uint8Array>).getReader()
          texts.push('')
          void (async () => {
            for (;;) {
              const { done, value } = await reader.read()
              if (done) return
              texts[at] += Buffer.from(value).toString()
            }
          })()
          return reader
        }),
      )
      const after = async (ms: number) => {
        mock.timers.tick(ms)
        await turn()
        await turn()
        return texts.map((text) => text.replaceAll('data: x\n\n', 'x').replaceAll(':\n\n', '.'))
      }
      assert.equal(before.mock.callCount(), 1)
      assert.deepEqual(await after(14_999), ['.', '.', '.'])
      assert.deepEqual(await after(1), ['..', '..', '.'])
      assert.deepEqual(await after(10_000), ['..', '..', '.'])
      streams[0]?.send('x')
      assert.deepEqual(await after(5_000), ['..x', '...', '.'])
      assert.deepEqual(await after(10_000), ['..x.', '...', '.'])
      for (const reader of readers) await reader.cancel()
    } finally {
      mock.timers.reset()
      mock.restoreAll()
    }
  })
})
