// The schemas of the programs `items`, `orders`, `trpc` and `playground`, for servers that take Zod's.
import { z } from 'zod'

export const itemParams = z.object({
  category: z.string().min(1).max(40),
  id: z.coerce.number().int().min(1),
})

export const itemQuery = z.object({
  page: z.coerce.number().int().min(1).default(1),
  limit: z.coerce.number().int().min(1).max(100).default(10),
  sort: z.enum(['name', 'price', 'date']).default('name'),
})

export const itemReply = z.object({
  category: z.string(),
  id: z.number().int(),
  page: z.number().int(),
  limit: z.number().int(),
  sort: z.enum(['name', 'price', 'date']),
})

export const newOrder = z.object({
  reference: z.string().min(1).max(40),
  customer: z.object({
    name: z.string().min(2).max(100),
    email: z.email(),
    phone: z.string().max(30).optional(),
  }),
  address: z.object({
    street: z.string().min(1).max(100),
    city: z.string().min(1).max(100),
    postcode: z.string().min(1).max(12),
    country: z.string().length(2),
  }),
  lines: z
    .array(
      z.object({
        sku: z.string().min(1).max(20),
        name: z.string().min(1).max(100),
        quantity: z.number().int().min(1).max(999),
        cents: z.number().int().min(0),
        tags: z.array(z.string().max(20)).max(5),
      }),
    )
    .min(1)
    .max(100),
  gift: z.boolean(),
  note: z.string().max(500).optional(),
})

export const orderReply = z.object({
  reference: z.string(),
  status: z.enum(['accepted', 'refused']),
  customer: z.object({ name: z.string(), email: z.string() }),
  lines: z.array(z.object({ sku: z.string(), quantity: z.number().int(), cents: z.number().int() })),
  cents: z.number().int(),
})

export const healthReply = z.object({
  status: z.literal('ok'),
  version: z.string(),
  timestamp: z.string(),
  uptime: z.number(),
})

export const userInput = z.object({ id: z.uuid() })

const user = z.object({
  id: z.string(),
  name: z.string(),
  email: z.string(),
  createdAt: z.string(),
  updatedAt: z.string(),
})

export const userReply = user.nullable()

export const userListReply = z.object({
  data: z.array(user),
  meta: z.object({ page: z.number().int(), limit: z.number().int(), total: z.number().int() }),
})
