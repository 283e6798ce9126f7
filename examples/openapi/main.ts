/** The API's document is made of its routes: /openapi.json, /openapi.yaml, and a page at /docs that tries them out. */
import { createApp, middleware, openapi } from 'volant'
import * as z from 'zod'

const Book = z
  .object({ isbn: z.string().regex(/^\d{13}$/), title: z.string().min(1) })
  .meta({ title: 'Book' })
const books = new Map([['9780141439587', { isbn: '9780141439587', title: 'Emma' }]])

const librarian = middleware(
  {
    errors: { SIGN_IN: { status: 401, description: 'Librarians only' } },
    security: { token: { type: 'http', scheme: 'bearer' } },
  },
  (ctx, next) => {
    if (ctx.headers.authorization !== 'Bearer sesame') throw ctx.fail('SIGN_IN')
    return next()
  },
)

export const app = createApp()

app.register(openapi, {
  info: { title: 'Library', version: '1.0.0', description: 'Books, and who may add them.' },
  tags: [{ name: 'books', description: 'What is on the shelves' }],
})

app.get(
  '/books/:isbn',
  {
    summary: 'One book',
    tags: ['books'],
    params: Book.pick({ isbn: true }),
    response: Book,
    errors: { NO_SUCH_BOOK: { status: 404 } },
  },
  (ctx) => {
    const book = books.get(ctx.params.isbn)
    if (book === undefined) throw ctx.fail('NO_SUCH_BOOK')
    return book
  },
)

app.with(librarian).post(
  '/books',
  {
    summary: 'Add a book',
    tags: ['books'],
    body: Book,
    response: { 201: Book },
    examples: { body: { emma: { value: { isbn: '9780141439587', title: 'Emma' } } } },
  },
  (ctx) => {
    books.set(ctx.body.isbn, ctx.body)
    return ctx.reply(201, ctx.body)
  },
)

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}, documented at ${url}/docs`)
