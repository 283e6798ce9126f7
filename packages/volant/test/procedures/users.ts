/** Procedures for users, whose name is in a header. */
import { before, HTTPError, middleware } from 'volant'
import { procedure, router, tracked } from 'volant/procedures'
import * as z from 'zod'

export const Id = z.object({ id: z.string().min(2) })
export const seen: string[] = []

export const auth = before<{ user: string }>((ctx) => {
  const name = ctx.headers['x-user']
  if (name === undefined) throw new HTTPError(401, 'who are you?', { code: 'UNAUTHORIZED' })
  ctx.state.user = name
})

export const around = middleware<{ depth: number }>(async (ctx, next) => {
  seen.push('in')
  ctx.state.depth = 1
  await next()
  seen.push('out')
})

export const authed = procedure().use(auth).use(around)

export const api = router({
  ping: procedure().query(() => 'pong'),
  users: router({
    get: authed
      .input(Id)
      .output(z.object({ id: z.string(), by: z.string() }))
      .errors({ NO_USER: { status: 404, description: 'no such user', data: z.object({ id: z.string() }) } })
      .query(({ input, ctx, path }) => {
        if (input.id === 'none') throw ctx.fail('NO_USER', { id: input.id })
        return { id: `${input.id}@${path}`, by: `${ctx.state.user}${ctx.state.depth}` }
      }),
    rename: procedure()
      .input(z.object({ name: z.string().transform((name) => name.toUpperCase()) }))
      .mutation(async ({ input }) => ({ name: input.name })),
  }),
  count: procedure()
    .input(z.object({ to: z.number() }))
    .output(z.number().max(3))
    .subscription(async function* ({ input }) {
      for (let at = 1; at <= input.to; at++) yield at === 2 ? tracked('two', at) : at
    }),
})
