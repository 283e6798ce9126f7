/** Procedures are written once, and called over REST, over tRPC and directly. Zod checks inputs and outputs. */
import { before, createApp } from 'volant'
import { caller, procedure, rest, router, tracked } from 'volant/procedures'
import { trpc, type TRPCRouterOf } from 'volant/trpc'
import * as z from 'zod'

const Post = z.object({ id: z.number().int(), title: z.string(), by: z.string() })
const posts = new Map<number, z.infer<typeof Post>>()

const auth = before<{ user: string }>()({ errors: { UNAUTHORIZED: { status: 401 } } }, (ctx) => {
  const user = ctx.headers['x-user']
  if (user === undefined) throw ctx.fail('UNAUTHORIZED')
  ctx.state.user = user
})
const authed = procedure().use(auth)

const api = router({
  posts: router({
    listPosts: procedure()
      .input(z.object({ limit: z.number().int().max(100).default(20) }))
      .output(z.array(Post))
      .query(({ input }) => [...posts.values()].slice(0, input.limit)),

    getPost: procedure()
      .input(z.object({ id: z.number().int() }))
      .output(Post)
      .errors({ NO_POST: { status: 404, description: 'There is no such post' } })
      .query(({ input, ctx }) => {
        const post = posts.get(input.id)
        if (!post) throw ctx.fail('NO_POST')
        return post
      }),

    createPost: authed
      .input(z.object({ title: z.string().min(1) }))
      .output(Post)
      .mutation(({ input, ctx }) => {
        const post = { id: posts.size + 1, title: input.title, by: ctx.state.user }
        posts.set(post.id, post)
        return post
      }),

    countdown: procedure()
      .input(z.object({ from: z.number().int().max(10), lastEventId: z.string().optional() }))
      .output(z.number())
      .subscription(async function* ({ input }) {
        const from = input.lastEventId === undefined ? input.from : Number(input.lastEventId) - 1
        for (let left = from; left > 0; left--) yield tracked(String(left), left)
      }),
  }),
})

/** This types the clients of tRPC: `createTRPCClient<AppRouter>(…)`. */
export type AppRouter = TRPCRouterOf<typeof api>

/** These functions call the procedures in this process, here as the user `cron`. */
export const call = caller(api, { headers: { 'x-user': 'cron' } })

export const app = createApp()
app.register(rest(api, { prefix: '/api' }))
app.register(trpc(api))

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
