/** Procedures about posts, as an API over REST has them. */
import { procedure, router } from 'volant/procedures'
import * as z from 'zod'
import { auth, Id } from './users.ts'

export const Comment = z.object({ postId: z.string(), id: z.number().int() })
export const say = (what: string) => (call: { input: unknown }) => ({ what, input: call.input })

export const posts = router({
  listPosts: procedure()
    .input(
      z.object({
        limit: z.number().max(50).default(10),
        tags: z.array(z.string()).default([]),
        all: z.boolean().default(false),
      }),
    )
    .query(say('list')),
  getPost: procedure().input(Id).query(say('get')),
  createPost: procedure()
    .meta({ summary: 'Write a post' })
    .input(z.object({ title: z.string() }))
    .output(z.object({ id: z.string(), title: z.string() }))
    .mutation(({ input }) => ({ id: 'p1', title: input.title })),
  updatePost: procedure()
    .input(Id.extend({ title: z.string() }))
    .mutation(say('update')),
  patchPost: procedure()
    .input(Id.extend({ title: z.string().optional() }))
    .mutation(say('patch')),
  removePost: procedure()
    .use(auth)
    .errors({ NO_POST: { status: 404, data: Id } })
    .input(Id)
    .mutation(({ input, ctx }) => {
      if (input.id === 'none') throw ctx.fail('NO_POST', { id: input.id })
    }),
  publish: procedure()
    .input(Id)
    .rest({ method: 'POST', path: '/posts/:id/publish', status: 202 })
    .mutation(say('publish')),
  clear: procedure().rest({ path: '/posts', method: 'DELETE', status: 204 }).mutation(say('clear')),
  getaway: procedure().query(say('getaway')),
  getSecret: procedure().rest(false).query(say('secret')),
  listLater: procedure().mutation(say('a mutation that is no list')),
  comments: router({
    getComment: procedure().input(Comment).query(say('comment')),
    listComments: procedure()
      .input(Comment.pick({ postId: true }))
      .query(say('comments')),
  }),
})

export const tree = router({
  posts,
  health: router({ getHealth: procedure().query(() => ({ status: 'ok' })) }),
  admin: router({ categories: router({ getCategory: procedure().input(Id).query(say('category')) }) }),
  ping: procedure().query(() => 'pong'),
})
