/** What the service says of itself: its routes without their handlers. Server and clients both import this. */
import { contract } from 'volant/contract'
import { z } from 'zod'

export const User = z
  .object({
    id: z.int().positive(),
    name: z.string(),
    email: z.email(),
    age: z.int(),
  })
  .meta({ id: 'User', description: 'Somebody in the database' })

export const NewUser = z
  .object({
    name: z.string().min(2).max(100),
    // RFC 5321 §4.5.3.1.1: 64 octets before the @.
    email: z
      .email()
      .max(254)
      .refine((text) => text.indexOf('@') <= 64, 'Invalid email address'),
    age: z.int().min(18).max(120),
  })
  .meta({ id: 'NewUser' })

const Record = z.object({ id: z.int(), title: z.string(), employer: z.string() }).meta({ id: 'Record' })

/** 15 digits: every such number is exact in JSON and in SQLite, and the document states the bound. */
const mostId = 999_999_999_999_999

const bytes = z.int().nonnegative()

const Memory = z
  .object({ rss: bytes, heapTotal: bytes, heapUsed: bytes, external: bytes, arrayBuffers: bytes })
  .meta({ id: 'Memory', description: 'Bytes, as process.memoryUsage() has them' })

export const api = {
  json: contract.get('/json', {
    summary: 'The smallest JSON reply',
    tags: ['plain'],
    response: z.object({ message: z.string() }),
  }),
  bigJson: contract.get('/big-json', {
    summary: '200 records, built for each request',
    tags: ['plain'],
    response: z.array(Record),
  }),
  badge: contract.get('/badge/:label/:value.svg', {
    summary: 'A badge',
    tags: ['plain'],
    response: z.string(),
    mediaType: 'image/svg+xml; charset=utf-8',
  }),
  memory: contract.get('/debug/memory', {
    summary: 'Memory of the process',
    tags: ['health'],
    response: Memory,
  }),
  users: {
    list: contract.get('/api/users', {
      summary: 'A page of users, by id',
      tags: ['users'],
      query: z.object({
        after: wholeNumber(0, mostId).default(0).describe('Users with a larger id'),
        limit: wholeNumber(1, 100).default(20).describe('Most users of a page'),
      }),
      response: z.object({
        users: z.array(User),
        next: z.string().nullable().describe('Where the next page is'),
      }),
    }),
    find: contract.get('/api/users/:id', {
      summary: 'One user, for a bearer token',
      tags: ['users'],
      params: z.object({ id: wholeNumber(1, mostId) }),
      response: z.object({ user: User }),
      errors: {
        E_UNAUTHORIZED: { status: 401, description: 'A bearer token is needed' },
        USER_NOT_FOUND: {
          status: 404,
          description: 'There is no such user',
          data: z.object({ id: z.int() }),
        },
      },
    }),
    add: contract.post('/api/users', {
      summary: 'Add a user',
      tags: ['users'],
      body: NewUser,
      response: { 201: z.object({ user: User }) },
      errors: {
        EMAIL_TAKEN: { status: 409, description: 'There is a user with this email address already' },
        E_RATE_LIMITED: { status: 429, description: 'This address has added too many users' },
        DISK_FULL: { status: 507, description: 'Nothing was stored: the disk of the service is full' },
      },
      examples: {
        body: {
          alice: { summary: 'A new user', value: { name: 'Alice', email: 'alice@example.com', age: 25 } },
        },
      },
    }),
  },
}

/** Paths and queries are text: this takes decimal digits and nothing else. */
function wholeNumber(least: number, most: number) {
  return z.preprocess(
    (text: string) => (/^\d{1,15}$/.test(text) ? Number(text) : text),
    z.int(`must be a whole number from ${least} to ${most}`).min(least).max(most),
  )
}
