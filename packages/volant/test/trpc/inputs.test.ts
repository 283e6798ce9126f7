/** Inputs that are none, too many, or cannot be read. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { caller, procedure, rest, router } from 'volant/procedures'
import { trpc } from 'volant/trpc'
import * as z from 'zod'
import { type Shape, kit, served } from './served.ts'

test('a procedure without input gets none, over every transport', async () => {
  const seen: unknown[] = []
  const look = ({ input }: { input: unknown }) => {
    seen.push(input)
    return 1
  }
  const tree = router({
    things: router({
      getThing: procedure().query(look),
      createThing: procedure().mutation(look),
      watch: procedure().subscription(async function* (call) {
        yield look(call)
      }),
    }),
  })
  const app = kit.app()
  app.register(rest(tree))
  app.register(trpc(tree, { acceptForms: true }))
  await kit.serve(app, async (live) => {
    const post = (type: string, body: string) => ({
      method: 'POST',
      headers: { 'content-type': type },
      body,
    })
    for (const [path, ask] of [
      ['/trpc/things.getThing?input=%7B%22role%22:%22admin%22%7D', {}],
      ['/trpc/things.getThing?batch=1&input=%7B%220%22:1%7D', {}],
      ['/trpc/things.createThing', post('application/json', '{"role":"admin"}')],
      ['/trpc/things.createThing', post('application/octet-stream', 'bytes')],
      ['/trpc/things.createThing', post('multipart/form-data; boundary=a', '--a--\r\n')],
      ['/trpc/things.watch?input=1&lastEventId=7', {}],
      ['/things?role=admin', {}],
      ['/things', post('application/json', '{"role":"admin"}')],
    ] as const) {
      const { status, text } = await live.ask(path, ask)
      assert.ok(status === 200 || status === 201, `${path}: ${status} ${text}`)
    }
  })
  const call = caller(tree) as unknown as { things: Record<string, (input: unknown) => Promise<unknown>> }
  await call.things['getThing']?.({ role: 'admin' })
  assert.deepEqual(seen, Array.from({ length: 9 }))
})

test('tRPC: what is wrong with the input of a query is not told of a body', () =>
  served(
    router({
      echo: procedure()
        .input(z.unknown())
        .query(() => 1),
    }),
    async (live) => {
      for (const input of ['%7B%22__proto__%22:1%7D', '['.repeat(200) + ']'.repeat(200)]) {
        const reply = await live.ask(`/trpc/echo?input=${input}`)
        const { message } = (reply.json() as { error: Shape }).error
        assert.match(message, /^the input (has|is)/)
      }
    },
  ))

test('tRPC: a batch of 100 is taken, and a larger one is told what to set', () =>
  served(router({ a: procedure().query(() => 1) }), async (live) => {
    const names = (count: number) => Array.from({ length: count }, () => 'a').join()
    assert.equal((await live.ask(`/trpc/${names(100)}?batch=1`)).status, 200)
    const reply = await live.ask(`/trpc/${names(101)}?batch=1`)
    assert.equal(reply.status, 400)
    assert.match((reply.json() as { error: Shape }).error.message, /set maxItems: 100 on the client's link/)
  }))

test('tRPC: the input of a batch is read once, and what a transformer cannot read is the fault of the client', async () => {
  let read = 0
  const tree = router({
    echo: procedure()
      .input(z.unknown())
      .query(({ input }) => ({ input })),
    set: procedure()
      .input(z.unknown())
      .mutation(({ input }) => ({ input })),
  })
  const transformer = {
    serialize: (value: unknown) => value,
    deserialize(value: unknown) {
      read++
      if (value === 'bad') throw new Error('no such type')
      return value
    },
  }
  const before = kit.reports.length
  await served(
    tree,
    async (live) => {
      const inputs = encodeURIComponent(JSON.stringify({ 0: 'bad', 1: 1, 2: 'bad', 3: 2 }))
      const reply = await live.ask(`/trpc/echo,echo,echo,echo?batch=1&input=${inputs}`)
      const items = reply.json() as { result?: { data: unknown }; error?: Shape }[]
      assert.deepEqual(
        items.map(({ result, error }) => result?.data ?? error?.data.httpStatus),
        [400, { input: 1 }, 400, { input: 2 }],
      )
      assert.equal(read, 4)
      assert.equal((await live.ask('/trpc/echo?input=%22bad%22')).status, 400)
      const parse = JSON.parse
      let parsed = 0
      JSON.parse = (text: string) => {
        if (text === '{"0":') parsed++
        return parse(text) as unknown
      }
      try {
        const asked = await live.ask('/trpc/echo,echo,echo?batch=1&input=%7B%220%22:')
        assert.equal(asked.status, 400)
      } finally {
        JSON.parse = parse
      }
      assert.equal(parsed, 1)
    },
    { transformer },
  )
  assert.equal(kit.reports.length, before)
})
