import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type } from 'arktype'
import * as v from 'valibot'
import { before, type Problem, validate } from 'volant'
import * as z from 'zod'
import { Kit, stderrLines } from '../kit.ts'

const kit = new Kit()

describe('validation', () => {
  test('a schema of a scope leaves the other parameters of its routes to them', async () => {
    const app = kit.app()
    app.group('/:tenant', (tenant) => {
      const checked = tenant.with(validate({ params: z.object({ tenant: z.coerce.number() }) }))
      checked.get('/:id', (ctx) => ctx.json(ctx.params))
      checked.get('/', (ctx) => ctx.json(ctx.params))
    })
    await kit.serve(app, async (live) => {
      assert.deepEqual((await live.ask('/7/x')).json(), { tenant: 7, id: 'x' })
      assert.deepEqual((await live.ask('/7')).json(), { tenant: 7 })
      assert.equal((await live.ask('/x/x')).status, 400)
    })
  })

  test('an error page of the app gets the issues', async () => {
    const app = kit.app()
    app.onError((error, ctx) => {
      const { issues } = error as { issues?: readonly unknown[] }
      ctx.json({ count: issues?.length }, ctx.status())
    })
    app.get('/x', { query: z.object({ a: z.string(), b: z.string() }) }, () => 1)
    await kit.serve(app, async (live) => {
      const reply = await live.ask('/x')
      assert.equal(reply.status, 400)
      assert.deepEqual(reply.json(), { count: 2 })
    })
  })

  test('hostile keys: no prototype is touched, odd keys make a pointer, issues are bounded', async () => {
    const app = kit.app()
    app.get('/q', { query: z.looseObject({}) }, (ctx) => ({
      own: Object.keys(ctx.query),
      polluted: ({} as Record<string, unknown>)['x'] ?? null,
    }))
    app.post('/b', { body: z.record(z.string(), z.number()) }, () => 1)
    await kit.serve(app, async (live) => {
      const reply = await live.ask('/q?__proto__=1&constructor=2&x=3')
      assert.equal((reply.json() as { polluted: unknown }).polluted, null)
      const odd = await live.post('/b', 'application/json', '{"\\ud800":"x","é/~":"y"}')
      assert.deepEqual(
        (odd.json() as Problem).errors?.map(({ pointer }) => pointer),
        ['#/%EF%BF%BD', '#/%C3%A9~1~0'],
      )
      const many = JSON.stringify(Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`k${at}`, 'x'])))
      assert.equal(((await live.post('/b', 'application/json', many)).json() as Problem).errors?.length, 100)
    })
  })

  test('a megabyte of faults is one 400, and no more of them are looked for than are told', async () => {
    const app = kit.app()
    let told = 0
    const error = (): string => {
      told++
      return 'is wrong'
    }
    app.post('/zod', { body: z.array(z.string({ error })) }, () => 1)
    app.post('/valibot', { body: v.array(v.string(error)) }, () => 1)
    app.post('/arktype', { body: type('string[]') }, () => 1)
    app.post('/json', { body: { type: 'array', items: { type: 'string' } } }, () => 1)
    app.post('/nested', { body: z.array(z.array(z.number().min(5))) }, () => 1)
    const many = `[${Array.from({ length: 524_000 }, () => '1').join()}]`
    await kit.serve(app, async (live) => {
      for (const [path, body] of [
        ['/zod', many],
        ['/valibot', many],
        ['/arktype', many],
        ['/json', many],
        // More issues of one list than a call has arguments.
        ['/nested', `[${many}]`],
      ] as const) {
        const reply = await live.post(path, 'application/json', body)
        const { code, errors = [] } = reply.json() as Problem
        assert.deepEqual([reply.status, code], [400, 'E_VALIDATION'], path)
        assert.ok(errors.length > 0 && errors.length <= 100, `${path}: ${errors.length}`)
      }
    })
    assert.ok(told > 0 && told <= 200, `${told} messages made`)
  })

  test('a schema that no text fits is named once, by the first request that it refuses for that', async () => {
    const app = kit.app()
    const Page = z.object({ n: z.number(), size: z.coerce.number<number>().max(5).optional() })
    app.get('/page', { query: Page }, () => 'ok')
    app.get('/list', { query: z.object({ ids: z.array(z.number()) }) }, () => 'ok')
    const since = z.iso.datetime().pipe(z.coerce.date())
    app.get('/zod', { query: z.object({ d: z.date(), b: z.array(z.bigint()), since }) }, () => 'ok')
    app.get('/arktype', { query: type({ d: 'Date', since: 'string.date.iso.parse' }) }, () => 'ok')
    app.get('/valibot', { query: v.object({ d: v.date() }) }, () => 'ok')
    const first = before((ctx) => void Object.assign(ctx.query, { n: 1 }))
    app.get('/converted', { query: z.object({ n: z.number().max(0) }) }, first, () => 'ok')
    const statusOf = async (url: string): Promise<number> => (await app.inject(url)).status
    const said = await stderrLines(async () => {
      // Neither is for want of another schema.
      assert.equal(await statusOf('/page?size=9'), 400)
      assert.equal(await statusOf('/converted'), 400)
      const date = '2026-01-02T03:04:05Z'
      const dates = ['zod', 'arktype', 'valibot'].map((name) => `/${name}?d=${date}&b=1&since=${date}`)
      for (const url of ['/page?n=1', '/page?n=2', '/list?ids=1', '/list?ids=1&ids=2', ...dates, ...dates])
        assert.equal(await statusOf(url), 400)
    })
    const refused = 'but it comes as text: every request that has it is refused. Write'
    assert.deepEqual(said, [
      `volant: /page: query: "n" is of type number, ${refused} z.coerce.number<number>()`,
      `volant: /list: query: "ids" is of type number, ${refused} z.coerce.number<number>()`,
      `volant: /zod: query: "d" is of type date, ${refused} z.iso.datetime().pipe(z.coerce.date())`,
      `volant: /zod: query: "b" is of type bigint, ${refused} z.string().regex(/^-?\\d+$/).transform(BigInt)`,
      `volant: /arktype: query: "d" is of type date, ${refused} 'string.date.iso.parse'`,
      `volant: /valibot: query: "d" is of type date, ${refused} v.pipe(v.string(), v.isoTimestamp(), v.toDate())`,
    ])
  })

  test('what is no schema is refused with the route and the part', () => {
    const app = kit.app()
    assert.throws(() => app.get('/x', { query: { kind: 'object' } as never }, () => 1), {
      code: 'E_BAD_SCHEMA',
      message: /\/x: query takes a schema with '~standard'.*kind/,
    })
    for (const [properties, hint] of [
      [{ a: z.string() }, /: write z\.object\(\{ a: … \}\)$/],
      [{ a: v.string(), b: v.string() }, /with a, b: write v\.object\(\{ a: … \}\)$/],
      [{ a: { type: 'string' } }, /: write \{ type: 'object', properties: \{ a: … \} \}$/],
      [{ a: { '~standard': { vendor: 'other' } } }, /: make one schema of \{ a: … \}$/],
      [{ a: 1 }, /not an object with a$/],
    ] as const) {
      const refused = { code: 'E_BAD_SCHEMA', message: hint }
      assert.throws(() => app.get('/x', { body: properties as never }, () => 1), refused)
    }
    assert.throws(() => app.get('/x', { body: null as never }, () => 1), { code: 'E_BAD_SCHEMA' })
    assert.throws(() => validate({ body: 'string' as never }), {
      code: 'E_BAD_SCHEMA',
      message: /validate: body/,
    })
    assert.throws(() => validate({ boby: z.string() } as never), {
      code: 'E_BAD_OPTION',
      message: /validate has no option "boby"; did you mean "body"\?/,
    })
    assert.throws(() => validate(null as never), { code: 'E_BAD_OPTION' })
    assert.throws(() => app.post('/x', { body: z.string(), bodyMode: 'stream' }, () => 1), {
      code: 'E_BAD_OPTION',
      message: /\/x: a body schema is for buffered/,
    })
  })

  test('a schema that throws is a 500 and is reported', async () => {
    const app = kit.app()
    app.get(
      '/x',
      {
        query: z.unknown().transform(() => {
          throw new Error('broken schema')
        }),
      },
      () => 1,
    )
    await kit.serve(app, async (live) => {
      assert.equal((await live.ask('/x')).status, 500)
    })
    assert.match(String(kit.reports.at(-1)), /broken schema/)
  })

  test('beforeBody comes before the schemas, they before the route’s middleware', async () => {
    const app = kit.app()
    const order: string[] = []
    app.post(
      '/x',
      {
        beforeBody: () => void order.push('beforeBody'),
        body: z.string().transform((text) => {
          order.push('schema')
          return text
        }),
      },
      (_, next) => {
        order.push('middleware')
        return next()
      },
      (ctx) => ctx.body.length,
    )
    await kit.serve(app, async (live) => {
      assert.equal((await live.post('/x', 'text/plain', 'abc')).text, '3')
    })
    assert.deepEqual(order, ['beforeBody', 'schema', 'middleware'])
  })
})
