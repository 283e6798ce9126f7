/** Queries and mutations of tRPC 11 by its own client. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  createTRPCClient,
  httpBatchLink,
  httpBatchStreamLink,
  httpLink,
  safe,
  TRPCClientError,
} from '@trpc/client'
import type { inferProcedureInput, inferRouterInputs, inferRouterOutputs } from '@trpc/server'
import { procedure, router } from 'volant/procedures'
import { trpc, type TRPCRouterOf } from 'volant/trpc'
import * as z from 'zod'
import { type Same, same, type AppRouter, kit, served } from './kit.ts'

describe("tRPC's own client", () => {
  const links = { httpLink, httpBatchLink, httpBatchStreamLink }
  for (const [name, link] of Object.entries(links)) {
    test(`queries, mutations and errors over ${name}`, () =>
      served(async (_, url) => {
        const client = createTRPCClient<AppRouter>({ links: [link({ url, headers: { 'x-user': 'bob' } })] })
        const [pong, user, nothing, date] = await Promise.all([
          client.ping.query(),
          client.users.get.query({ id: 'u1' }),
          client.nothing.query(),
          client.date.query(),
        ])
        same<Same<typeof user, { id: string; name: string }>>()
        same<Same<typeof date, { at: string }>>()
        assert.equal(pong, 'pong')
        assert.deepEqual(user, { id: 'u1', name: 'Ann' })
        assert.equal(nothing, undefined)
        assert.deepEqual(date, { at: '1970-01-01T00:00:00.000Z' })
        const added = await client.users.add.mutate({ id: 'u2', name: 'Cy' })
        same<Same<typeof added, { by: string; id: string; name: string }>>()
        assert.deepEqual(added, { id: 'u2', name: 'Cy', by: 'bob' })

        const outcomes = await Promise.allSettled([
          client.users.get.query({ id: 'none' }),
          client.users.get.query({ id: 7 as never }),
          client.secret.query(),
          client.theirs.query(),
          client.teapot.query(),
          client.broken.query(),
          (client as unknown as { nope: { query(): Promise<never> } }).nope.query(),
        ])
        const shapes = outcomes.map((outcome) => {
          assert.equal(outcome.status, 'rejected')
          assert.ok(outcome.reason instanceof TRPCClientError, String(outcome.reason))
          return outcome.reason.shape as { message: string; code: number; data: Record<string, unknown> }
        })
        assert.deepEqual(shapes[0], {
          message: 'There is no such user',
          code: -32004,
          data: {
            code: 'NOT_FOUND',
            httpStatus: 404,
            path: 'users.get',
            error: { code: 'NO_USER', data: { id: 'none' } },
          },
        })
        assert.equal(shapes[1]?.code, -32600)
        const { errors } = (shapes[1] as (typeof shapes)[0]).data['error'] as {
          errors: { in: string; pointer: string }[]
        }
        assert.deepEqual(
          errors.map((issue) => [issue.in, issue.pointer]),
          [['input', '#/id']],
        )
        const internal = (path: string) => ({
          message: 'Internal Server Error',
          code: -32603,
          data: { code: 'INTERNAL_SERVER_ERROR', httpStatus: 500, path },
        })
        assert.deepEqual(shapes[2], internal('secret'))
        assert.deepEqual(shapes[3], {
          message: 'taken',
          code: -32009,
          data: { code: 'CONFLICT', httpStatus: 409, path: 'theirs' },
        })
        assert.deepEqual(shapes[4]?.data, { code: 'BAD_REQUEST', httpStatus: 418, path: 'teapot' })
        assert.deepEqual(shapes[5], internal('broken'))
        assert.equal(shapes[6]?.data['code'], 'NOT_FOUND')
      }))
  }

  test('errors are typed by their procedure', () =>
    served(async (_, url) => {
      const client = createTRPCClient<AppRouter>({ links: [httpLink({ url })] })
      const [, error] = await safe(client.users.get.query({ id: 'none' }))
      const detail = error?.shape?.data.error
      assert.equal(detail?.code, 'NO_USER')
      if (detail?.code === 'NO_USER') {
        same<Same<typeof detail.data, { id: string }>>()
        assert.deepEqual(detail.data, { id: 'none' })
      }
    }))

  test('inputs and outputs are those of the schemas', () => {
    type Inputs = inferRouterInputs<AppRouter>
    type Outputs = inferRouterOutputs<AppRouter>
    same<Same<Inputs['users']['get'], { id: string }>>()
    same<Same<Outputs['users']['get'], { id: string; name: string }>>()
    same<Same<Inputs['ping'], void | undefined>>()
    same<Same<Outputs['ping'], string>>()
    same<Same<inferProcedureInput<AppRouter['later']>, number>>()
  })

  test('a streamed batch gives what is ready first, and values that come later', () =>
    served(async (_, url, _released, late) => {
      const client = createTRPCClient<AppRouter>({ links: [httpBatchStreamLink({ url })] })
      const order: number[] = []
      const slow = client.later.query(120).then((value) => order.push(value))
      const fast = client.later.query(1).then((value) => order.push(value))
      const value = await client.deferred.query()
      assert.equal(value.now, 1)
      await assert.rejects(value.failing)
      const numbers: unknown[] = []
      for await (const number of await client.numbers.query()) {
        numbers.push(
          typeof number === 'number' ? number : await (number as { nested: Promise<number> }).nested,
        )
      }
      assert.deepEqual(numbers, [1, 2])
      await fast
      assert.deepEqual(order, [1])
      late.resolve()
      await slow
      assert.deepEqual(order, [1, 120])
      assert.equal(await value.later, 2)
    }))

  test('form data is the input of a mutation where that is allowed, bytes always', async () => {
    const form = new FormData()
    form.set('name', 'Ann')
    const send = async (url: string) => {
      const client = createTRPCClient<AppRouter>({ links: [httpLink({ url })] })
      assert.equal(await client.size.mutate(new Blob(['bytes']) as never), 5)
      return client.form.mutate(form)
    }
    await served(async (_, url) => assert.equal(await send(url), 'Ann'), { acceptForms: true })
    await served((_, url) => assert.rejects(send(url), /Unsupported content-type/))
  })

  test('a transformer carries what JSON cannot', async () => {
    /** Dates are `{ date: milliseconds }`, wherever they are. */
    const walk = (value: unknown, map: (value: object) => unknown): unknown => {
      if (typeof value !== 'object' || value === null) return value
      const mapped = map(value)
      if (mapped !== value) return mapped
      if (Array.isArray(value)) return value.map((each) => walk(each, map))
      return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, walk(each, map)]))
    }
    const dates = {
      serialize: (all: unknown): unknown =>
        walk(all, (value) => (value instanceof Date ? { date: value.getTime() } : value)),
      deserialize: (all: unknown): unknown =>
        walk(all, (value) => ('date' in value ? new Date(value.date as number) : value)),
    }
    const tree = router({
      next: procedure()
        .input(z.date())
        .query(({ input }) => new Date(input.getTime() + 1)),
      days: procedure().subscription(async function* () {
        yield new Date(1)
      }),
    })
    const app = kit.app()
    app.register(trpc(tree, { transformer: dates }))
    await kit.serve(app, async (live) => {
      const url = `${live.address.url}/trpc`
      for (const link of [httpLink, httpBatchLink, httpBatchStreamLink] as const) {
        const client = createTRPCClient<TRPCRouterOf<typeof tree, true>>({
          links: [link({ url, transformer: dates })],
        })
        const next = await client.next.query(new Date(41))
        same<Same<typeof next, Date>>()
        assert.equal(next.getTime(), 42)
      }
    })
  })
})
