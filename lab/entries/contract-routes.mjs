// The program `contracts`: 1,000 routes `POST /resources/<i>/:id`, each with schemas of its own, as a large service has
// them. All are constructed, whatever CONTRACTS says: `schemas` adds none of the routes, `plain` adds them without their
// contracts, `contracts` with them.
import { z } from 'zod'

export const kind = process.env.CONTRACTS ?? 'contracts'

const groups = [
  'USER',
  'ORDER',
  'INVOICE',
  'PRODUCT',
  'PAYMENT',
  'PARCEL',
  'REPORT',
  'TEAM',
  'PROJECT',
  'TASK',
]

/** `path`, and `contract`: the options of the route. */
export const resources = Array.from({ length: 1_000 }, (_, i) => ({
  path: `/resources/${i}/:id`,
  contract: contract(i),
}))

/** What the handler of each replies. `id` is of the path, `name` of the body. */
export const resource = (id, name) => ({ id: Number(id), name, createdAt: '2024-01-15T10:30:00.000Z' })

function contract(i) {
  const address = z.object({
    street: z.string().min(1),
    city: z.string().min(1),
    postcode: z.string().max(12),
  })
  const missing = z.object({ id: z.number(), near: z.array(z.number()) })
  return {
    summary: `Changes a resource ${i}`,
    tags: [groups[i % groups.length]],
    params: z.object({ id: z.coerce.number().int().min(1) }),
    query: z.object({
      notify: z.enum(['nobody', 'owner', 'everybody']).default('owner'),
      revision: z.coerce.number().int().optional(),
    }),
    body: z.object({
      name: z.string().min(1).max(100),
      email: z.email().optional(),
      tags: z.array(z.string().max(20)).max(10).default([]),
      address: address.optional(),
    }),
    response: z.object({ id: z.number().int(), name: z.string(), createdAt: z.iso.datetime() }),
    errors: {
      [`${groups[i % groups.length]}_NOT_FOUND`]: { status: 404, data: missing },
      LOCKED: { status: 409 },
    },
  }
}
