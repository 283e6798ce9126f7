import { createApp, HTTPError } from 'volant'

const posts = new Map([['first', 'Hello']])

/** This is an app like any other: it can be tested or served alone, and mounted in another. */
export const blog = createApp()

blog.get('/', () => [...posts.keys()])
blog.get('/:slug', (ctx) => {
  const text = posts.get(ctx.params.slug)
  if (text === undefined) throw new HTTPError(404, 'No such post')
  return { text }
})

blog.onError((_, ctx) => `The blog says: ${ctx.status()}`)
