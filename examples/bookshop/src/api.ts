/** The contract of the shop: what its routes take and what they reply. The server and the page import it. */
import { contract } from 'volant/contract'
import * as z from 'zod'

const id = z.coerce.number<number>().int().min(0).max(2_147_483_647) // INTEGER of PostgreSQL
const line = z.string().regex(/^\P{Cc}{1,200}$/u) // no control characters
const NO_BOOK = { status: 404, description: 'There is no such book' } as const

export const NewBook = z
  .object({
    title: line,
    author: line,
    cents: z.int().min(0).max(1_000_000),
    stock: z.int().min(0).max(10_000),
  })
  .meta({ id: 'NewBook' })

export const Book = NewBook.extend({
  id: z.int(),
  cover: z.string().nullable().describe('The path of the picture'),
}).meta({ id: 'Book' })

export const User = z.object({ email: z.email(), role: z.enum(['clerk', 'customer']) }).meta({ id: 'User' })

export const Credentials = z
  .object({ email: z.email().max(254), password: z.string().min(8).max(200) })
  .meta({ id: 'Credentials' })

export const Order = z
  .object({ id: z.int(), book: z.int(), copies: z.int(), cents: z.int(), ordered: z.iso.datetime() })
  .meta({ id: 'Order' })

export const api = {
  books: {
    list: contract.get('/api/books', {
      summary: 'A page of books, by id',
      tags: ['books'],
      query: z.object({
        search: z.string().max(100).default('').describe('A part of the title or the author'),
        after: id.default(0).describe('The last id of the page before'),
        limit: z.coerce.number<number>().int().min(1).max(100).default(20),
      }),
      response: z.object({ books: z.array(Book), next: z.int().nullable().describe('The value for after') }),
    }),
    find: contract.get('/api/books/:id', {
      summary: 'One book',
      tags: ['books'],
      params: z.object({ id }),
      response: Book,
      errors: { NO_BOOK },
    }),
    add: contract.post('/api/books', {
      summary: 'Add a book, as a clerk',
      tags: ['stock'],
      body: NewBook,
      response: { 201: Book },
    }),
    cover: contract.put('/api/books/:id/cover', {
      summary: 'Upload the cover of a book, as a clerk',
      tags: ['stock'],
      params: z.object({ id }),
      consumes: 'multipart/form-data',
      maxBodySize: 2_000_000,
      body: z.object({ cover: z.file().mime(['image/png', 'image/jpeg', 'image/webp']) }),
      response: Book,
      errors: { NO_BOOK, NOT_A_PICTURE: { status: 422, description: 'The file is not what its type says' } },
    }),
    export: contract.get('/api/stock.csv', { summary: 'All books as CSV, for a clerk', tags: ['stock'] }),
  },
  session: {
    signUp: contract.post('/api/users', {
      summary: 'Become a customer',
      tags: ['session'],
      body: Credentials,
      response: { 201: User },
      errors: { EMAIL_TAKEN: { status: 409, description: 'There is a user with this address' } },
    }),
    signIn: contract.post('/api/session', {
      summary: 'Sign in: the cookie is for pages, the token for programs',
      tags: ['session'],
      body: Credentials,
      response: User.extend({ token: z.string().describe('A bearer token that is good for an hour') }),
      errors: { WRONG_PASSWORD: { status: 401, description: 'The address or the password is wrong' } },
    }),
    read: contract.get('/api/session', { summary: 'Who is signed in', tags: ['session'], response: User }),
    signOut: contract.delete('/api/session', { tags: ['session'], response: { 204: null } }),
  },
  orders: {
    list: contract.get('/api/orders', {
      summary: 'The latest orders of the user',
      tags: ['orders'],
      response: z.array(Order),
    }),
    place: contract.post('/api/orders', {
      summary: 'Order copies of a book',
      tags: ['orders'],
      body: z.object({ book: z.int32(), copies: z.int().min(1).max(100) }),
      response: { 201: Order },
      errors: { SOLD_OUT: { status: 409, description: 'Fewer copies are left, or no such book' } },
    }),
  },
}
