import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { cors, etag, type EtagOptions, HTTPError, type VolantError } from 'volant'
import { procedure, rest, router } from 'volant/procedures'
import { z } from 'zod'
import { Kit } from './kit.ts'

const kit = new Kit()
const folder = mkdtempSync(join(tmpdir(), 'volant-'))
after(() => rmSync(folder, { recursive: true }))

const serving = (run: Parameters<Kit['serve']>[1], options?: EtagOptions) => {
  const app = kit.app()
  app.use(etag(options))
  app.on(['GET', 'POST'], '/text', () => 'hello')
  app.get('/json', () => ({ hello: 'wörld' }))
  app.get('/bytes', () => Buffer.from('hello'))
  app.get('/html', (ctx) => ctx.html('hello'))
  app.get('/typed', (ctx) => ctx.header('content-type', 'text/html; charset=utf-8').text('hello'))
  app.get('/empty', () => '')
  app.get('/later', async () => 'hello')
  app.get('/own', (ctx) => ctx.header('ETag', '"v1"').text('hello'))
  app.get('/weak', (ctx) => ctx.header('etag', 'W/"v1"').text('hello'))
  app.get('/dated', (ctx) => ctx.header('last-modified', modified).text('hello'))
  return kit.serve(app, run)
}

const modified = 'Thu, 29 Feb 2024 12:34:56 GMT'
const earlier = 'Thu, 29 Feb 2024 12:34:55 GMT'
const later = 'Thu, 29 Feb 2024 12:34:57 GMT'

describe('etag', () => {
  test('the tag is strong, and made of content type and content', async () => {
    await serving(async (live) => {
      const tagOf = async (path: string) => (await live.ask(path)).headers['etag'] ?? ''
      const digest = createHash('sha1').update('text/plain; charset=utf-8\n').update('hello').digest('base64')
      assert.equal(await tagOf('/text'), `"${digest.slice(0, 27)}"`)
      assert.equal(await tagOf('/later'), await tagOf('/text'))
      assert.equal(await tagOf('/typed'), await tagOf('/html'))
      const tags = await Promise.all(['/text', '/json', '/bytes', '/html', '/empty'].map(tagOf))
      assert.equal(new Set(tags).size, 5)
      for (const tag of tags) assert.match(tag, /^"[A-Za-z0-9+/]{27}"$/)
    })
  })

  test('with `weak` it is the same tag, weak', async () => {
    let strong = ''
    await serving(async (live) => void (strong = (await live.ask('/text')).headers['etag'] ?? ''))
    await serving(
      async (live) => {
        assert.equal((await live.ask('/text')).headers['etag'], `W/${strong}`)
        assert.equal((await live.ask('/own')).headers['etag'], '"v1"')
        const reply = await live.ask('/text', { headers: { 'if-none-match': strong } })
        assert.deepEqual([reply.status, reply.headers['etag']], [304, `W/${strong}`])
        assert.equal((await live.ask('/text', { headers: { 'if-match': `W/${strong}` } })).status, 412)
      },
      { weak: true },
    )
  })

  test('HEAD has the tag of GET', async () => {
    await serving(async (live) => {
      for (const path of ['/text', '/json', '/own']) {
        const { headers } = await live.ask(path)
        const head = await live.ask(path, { method: 'HEAD' })
        assert.equal(head.headers['etag'], headers['etag'])
        assert.equal(head.headers['content-length'], headers['content-length'])
        const conditional = { method: 'HEAD', headers: { 'if-none-match': headers['etag'] as string } }
        assert.equal((await live.ask(path, conditional)).status, 304)
      }
    })
  })

  // By RFC 9110 §13.1 and §13.2.2. The package fresh 2.0.0, which Express and Koa ask, decides the marked rows
  // otherwise: it knows neither If-Match nor If-Unmodified-Since, and takes anything for a date that Date.parse takes.
  const both = { etag: '"v1"', 'last-modified': modified }
  const conditions: [has: Record<string, string>, asked: Record<string, string>, status: number][] = [
    [both, {}, 200],
    [both, { 'if-none-match': '"v1"' }, 304],
    [both, { 'if-none-match': 'W/"v1"' }, 304],
    [both, { 'if-none-match': '"x", "v1" ,"y"' }, 304],
    [both, { 'if-none-match': '"x",,W/"v1"' }, 304],
    [both, { 'if-none-match': '*' }, 304],
    [both, { 'if-none-match': '"x"' }, 200],
    [both, { 'if-none-match': 'v1' }, 200],
    [both, { 'if-none-match': '"V1"' }, 200],
    [both, { 'if-none-match': '"x,"v1"' }, 200], // fresh: 304
    [both, { 'if-none-match': '' }, 200],
    [both, { 'if-none-match': '"v1"', 'if-modified-since': earlier }, 304],
    [both, { 'if-none-match': '"x"', 'if-modified-since': modified }, 200],
    [both, { 'if-modified-since': modified }, 304],
    [both, { 'if-modified-since': later }, 304],
    [both, { 'if-modified-since': earlier }, 200],
    [both, { 'if-modified-since': 'Thursday, 29-Feb-24 12:34:56 GMT' }, 304],
    [both, { 'if-modified-since': 'Thu Feb 29 12:34:56 2024' }, 304],
    [both, { 'if-modified-since': '2030-01-01' }, 200], // fresh: 304
    [both, { 'if-modified-since': '2030' }, 200], // fresh: 304
    [both, { 'if-modified-since': 'garbage' }, 200],
    [both, { 'if-match': '"v1"' }, 200],
    [both, { 'if-match': '"x", "v1"' }, 200],
    [both, { 'if-match': '*' }, 200],
    [both, { 'if-match': 'W/"v1"' }, 412], // fresh: 200
    [both, { 'if-match': '"x"' }, 412], // fresh: 200
    [both, { 'if-match': '"x"', 'if-none-match': '"v1"' }, 412], // fresh: 304
    [both, { 'if-match': '"v1"', 'if-none-match': '"v1"' }, 304],
    [both, { 'if-match': '"v1"', 'if-unmodified-since': earlier }, 200],
    [both, { 'if-unmodified-since': earlier }, 412], // fresh: 200
    [both, { 'if-unmodified-since': modified }, 200],
    [both, { 'if-unmodified-since': 'garbage' }, 200],
    [both, { 'if-unmodified-since': modified, 'if-none-match': '"v1"' }, 304],
    // A reload asks the caches on the way for a new copy; this server has the newest (RFC 9111 §5.2.1.4).
    [both, { 'if-none-match': '"v1"', 'cache-control': 'no-cache' }, 304], // fresh: 200
    [{ etag: 'W/"v1"' }, { 'if-none-match': '"v1"' }, 304],
    [{ etag: 'W/"v1"' }, { 'if-none-match': 'W/"v1"' }, 304],
    [{ etag: 'W/"v1"' }, { 'if-match': 'W/"v1"' }, 412], // fresh: 200
    [{ etag: 'W/"v1"' }, { 'if-match': '"v1"' }, 412], // fresh: 200
    [{ etag: '"v1"' }, { 'if-modified-since': later }, 200],
    [{ etag: '"v1"' }, { 'if-unmodified-since': earlier }, 200],
    [{ etag: '"v1"', 'last-modified': 'yesterday' }, { 'if-modified-since': later }, 200],
    [{ etag: '"v1"', 'last-modified': '2020-01-01' }, { 'if-modified-since': later }, 200], // fresh: 304
    [{ 'last-modified': modified }, { 'if-modified-since': modified }, 304],
    [{ 'last-modified': modified }, { 'if-none-match': '"x"', 'if-modified-since': modified }, 200],
  ]
  test(`${conditions.length} conditional requests`, async () => {
    let has: Record<string, string> = {}
    const app = kit.app()
    app.use(etag())
    app.get('/text', (ctx) => {
      for (const [name, value] of Object.entries(has)) ctx.header(name, value)
      return 'hello'
    })
    app.get('/stream', (ctx) => {
      for (const [name, value] of Object.entries(has)) ctx.header(name, value)
      return (function* () {
        yield 'hel'
        yield 'lo'
      })()
    })
    await kit.serve(app, async (live) => {
      for (const [fields, headers, status] of conditions) {
        has = fields
        for (const path of ['/text', '/stream']) {
          for (const method of ['GET', 'HEAD']) {
            const reply = await live.ask(path, { method, headers })
            const what = `${method} ${path} ${JSON.stringify(fields)} ${JSON.stringify(headers)}`
            assert.equal(reply.status, status, what)
            if (status === 200) assert.equal(reply.text, method === 'HEAD' ? '' : 'hello', what)
            if (status === 304) assert.equal(reply.text, '', what)
            if (status === 412 && method === 'GET') {
              assert.equal((reply.json() as { code: string }).code, 'E_PRECONDITION', what)
            }
          }
        }
      }
    })
  })

  test('a 304 has what caches need, and nothing about content it does not have', async () => {
    const app = kit.app()
    app.use(cors({ origin: 'https://app.example' }))
    app.use(etag())
    const kept = {
      'cache-control': 'max-age=60',
      'content-location': '/x.json',
      expires: 'Thu, 01 Jan 2099 00:00:00 GMT',
      'x-own': '1',
    }
    app.get('/x', (ctx) => {
      for (const [name, value] of Object.entries(kept)) ctx.header(name, value)
      ctx.header('content-language', 'en').header('content-disposition', 'inline').header('vary', 'accept')
      ctx.cookie('a', 'b')
      return { x: 1 }
    })
    await kit.serve(app, async (live) => {
      const headers = { origin: 'https://app.example' }
      const first = await live.ask('/x', { headers })
      const tag = first.headers['etag'] as string
      const { status, headers: got } = await live.ask('/x', { headers: { ...headers, 'if-none-match': tag } })
      assert.equal(status, 304)
      assert.deepEqual(
        { ...got, date: undefined, 'set-cookie': undefined },
        {
          ...kept,
          etag: tag,
          vary: 'Origin, accept',
          'access-control-allow-origin': 'https://app.example',
          date: undefined,
          'set-cookie': undefined,
        },
      )
      assert.ok(got['set-cookie'])
    })
  })

  // A cache looks for the copy that has the very tag of the 304 (RFC 9111 §4.3.4).
  test('a 304 repeats the tag as the client has it, weak where compression made it weak', async () => {
    await serving(async (live) => {
      const tag = (await live.ask('/text')).headers['etag'] as string
      for (const [given, answered] of [
        [tag, tag],
        [`W/${tag}`, `W/${tag}`],
        [`"x", W/${tag}`, `W/${tag}`],
        ['*', tag],
      ] as const) {
        const reply = await live.ask('/text', { headers: { 'if-none-match': given } })
        assert.deepEqual([reply.status, reply.headers['etag']], [304, answered], given)
      }
    })
  })

  test('other methods, other statuses, streams and replies that nobody may store have no tag', async () => {
    const app = kit.app()
    app.use(etag())
    app.post('/x', () => 'hello')
    app.put('/x', (ctx) => ctx.header('etag', '"v1"').text('hello'))
    app.get('/created', (ctx) => ctx.text('hello', 201))
    app.get('/nothing', () => null)
    app.get('/teapot', () => {
      throw new HTTPError(418)
    })
    app.get('/broken', () => {
      throw new Error('broken')
    })
    app.get('/stream', () => new Response('hello').body)
    app.get('/secret', (ctx) => ctx.header('cache-control', 'private, No-Store').text('hello'))
    app.get('/tagged', (ctx) => ctx.header('cache-control', 'no-store').header('etag', '"v1"').text('hello'))
    app.get('/redirect', (ctx) => ctx.redirect('/x'))
    await kit.serve(app, async (live) => {
      for (const [path, status] of [
        ['/created', 201],
        ['/nothing', 204],
        ['/teapot', 418],
        ['/broken', 500],
        ['/none', 404],
        ['/stream', 200],
        ['/secret', 200],
        ['/redirect', 302],
      ] as const) {
        const reply = await live.ask(path, { headers: { 'if-none-match': '*' } })
        assert.deepEqual([reply.status, reply.headers['etag']], [status, undefined], path)
      }
      const post = await live.ask('/x', { method: 'POST', headers: { 'if-none-match': '*' } })
      assert.deepEqual([post.status, post.headers['etag']], [200, undefined])
      // What If-Match means for a PUT is the handler's to say, before it has changed anything.
      const put = await live.ask('/x', { method: 'PUT', headers: { 'if-match': '"x"' } })
      assert.deepEqual([put.status, put.headers['etag']], [200, '"v1"'])
      assert.equal((await live.ask('/tagged', { headers: { 'if-none-match': '"v1"' } })).status, 304)
    })
  })

  test('the source of a stream that the client has is cancelled', async () => {
    let cancelled = 0
    const app = kit.app()
    app.use(etag())
    app.get('/x', (ctx) => {
      ctx.header('etag', '"v1"')
      return ctx.stream(new ReadableStream({ cancel: () => void cancelled++ }), { type: 'text/plain' })
    })
    await kit.serve(app, async (live) => {
      const reply = await live.ask('/x', { headers: { 'if-none-match': '"v1"' } })
      assert.deepEqual([reply.status, reply.text, reply.headers['content-type']], [304, '', undefined])
      assert.equal(cancelled, 1)
    })
  })

  test('files keep their own tags and conditions', async () => {
    const path = join(folder, 'a.txt')
    writeFileSync(path, 'hello')
    const app = kit.app()
    app.use(etag())
    app.get('/file', (ctx) => ctx.file(path))
    await kit.serve(app, async (live) => {
      const { headers } = await live.ask('/file')
      assert.match(headers['etag'] ?? '', /^W\/"5-/)
      const same = await live.ask('/file', { headers: { 'if-none-match': headers['etag'] as string } })
      assert.equal(same.status, 304)
      assert.equal((await live.ask('/file', { headers: { range: 'bytes=0-1' } })).status, 206)
    })
  })

  test('replies of a contract and of procedures', async () => {
    const app = kit.app()
    app.use(etag())
    app.get('/user', { response: z.object({ id: z.number() }) }, () => ({ id: 7 }))
    const users = router({
      getUser: procedure()
        .input(z.object({ id: z.number() }))
        .query(({ input }) => input),
    })
    app.register(rest(router({ users })))
    await kit.serve(app, async (live) => {
      for (const path of ['/user', '/users/7']) {
        const { headers, text } = await live.ask(path)
        assert.equal(text, '{"id":7}')
        const same = await live.ask(path, { headers: { 'if-none-match': headers['etag'] as string } })
        assert.deepEqual([same.status, same.text], [304, ''], path)
      }
    })
  })

  test('on a route, a scope or a path it is for these alone', async () => {
    const app = kit.app()
    app.get('/route', etag(), () => 'hello')
    app.with(etag()).get('/scope', () => 'hello')
    app.use('/path', etag())
    app.get('/path/x', () => 'hello')
    app.get('/other', () => 'hello')
    await kit.serve(app, async (live) => {
      for (const [path, has] of [
        ['/route', true],
        ['/scope', true],
        ['/path/x', true],
        ['/other', false],
      ] as const) {
        assert.equal((await live.ask(path)).headers['etag'] !== undefined, has, path)
      }
    })
  })

  test('the tag is made of what the hooks before it have left', async () => {
    let note = 'a'
    const app = kit.app()
    app.use(etag())
    app.onSend((_, reply) => {
      reply.body = `${note}: ${String(reply.body)}`
    })
    app.get('/x', () => 'hello')
    await kit.serve(app, async (live) => {
      const tag = (await live.ask('/x')).headers['etag'] as string
      const headers = { 'if-none-match': tag }
      assert.equal((await live.ask('/x', { headers })).status, 304)
      note = 'b'
      assert.equal((await live.ask('/x', { headers })).text, 'b: hello')
    })
  })

  test('bad options are refused by name', () => {
    const wrong: [options: unknown, message: RegExp][] = [
      [{ weak: 1 }, /^etag: weak takes true or false, not 1$/],
      [null, /^etag takes an object of options, not null$/],
      [{ waek: true }, /^etag has no option "waek"; did you mean "weak"\?/],
      [{ algorithm: 'md5' }, /^etag has no option "algorithm": /],
    ]
    for (const [options, message] of wrong) {
      const code = 'E_BAD_OPTION'
      assert.throws(
        () => etag(options as EtagOptions),
        (error: VolantError) => error.code === code && message.test(error.message),
      )
    }
  })

  test('a factory that is not called says how to write it', () => {
    const app = kit.app()
    assert.throws(() => app.use(etag as never), /app\.use\(etag\(\)\)/)
  })
})
