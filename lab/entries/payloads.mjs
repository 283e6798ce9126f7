// What the programs reply, as far as the documents say it; the rest is ours. Built anew for each request, as a service
// would: nothing here is kept between two of them.

/** RamAPI's middleware stack. */
export const stackReply = (requestId) => ({
  requestId,
  users: [
    { id: 1, name: 'Alice' },
    { id: 2, name: 'Bob' },
  ],
})

/** veloze-benchmarks, -big-json: 200 records. */
export const records = () =>
  Array.from({ length: 200 }, (_, id) => ({ id, title: 'Software engineer', employer: 'acme corp' }))

/** ZapJS: its texts and objects by static path. `/api/users` is its list of ten. */
export const zapTexts = {
  '/': () => 'Hello, World!',
  '/about': () => 'About this server',
  '/contact': () => 'Contact us',
}
export const zapObjects = {
  '/health': () => ({ status: 'ok' }),
  '/metrics': () => ({ requests: 1, errors: 0 }),
  '/api/status': () => ({ status: 'running' }),
  '/api/version': () => ({ version: '1.0.0' }),
  '/api/config': () => ({ environment: 'production' }),
  '/api/users': () => ({
    users: Array.from({ length: 10 }, (_, index) => ({
      id: index + 1,
      name: `User ${index + 1}`,
      email: `user${index + 1}@example.com`,
    })),
    total: 10,
    page: 1,
  }),
}
/** ZapJS: `/api/users/:id`, and `/api/<kind>/:id` of the other four kinds. `id` is the text of the path. */
export const zapUser = (id) => ({ id, name: 'John Doe', email: `user${id}@example.com`, role: 'user' })
export const zapKinds = ['posts', 'products', 'orders', 'comments']
export const zapRecord = (kind, id) => ({ kind, id })
/** ZapJS: `/api/users/:userId/posts/:postId`. */
export const zapPost = (userId, postId) => ({
  userId,
  postId,
  title: 'Sample Post',
  content: 'Lorem ipsum dolor sit amet',
})

/** Nessen: `/badge/:label/:value.svg`, sent as image/svg+xml. */
export function badge(label, value) {
  const [left, right] = [label, value].map((text) => 6 * text.length + 10)
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-label="${label}: ${value}">` +
    `<rect width="${left}" height="20" fill="#555"/><rect x="${left}" width="${right}" height="20" fill="#4c1"/>` +
    `<g fill="#fff" text-anchor="middle" font-family="Verdana,sans-serif" font-size="11">` +
    `<text x="${left / 2}" y="14">${label}</text><text x="${left + right / 2}" y="14">${value}</text></g></svg>`
  )
}

/** VeloxTS: `/api/health`. */
export const health = () => ({
  status: 'ok',
  version: '1.0.0',
  timestamp: new Date().toISOString(),
  uptime: process.uptime(),
})
/** VeloxTS: `/api/users`, of its users in memory. */
const at = '2024-01-15T10:30:00.000Z'
const people = ['Alice Johnson', 'Bob Smith', 'Charlie Brown'].map((name, index) => ({
  id: `550e8400-e29b-41d4-a716-44665544000${index + 1}`,
  name,
  email: `${name.split(' ')[0].toLowerCase()}@example.com`,
  createdAt: at,
  updatedAt: at,
}))
export const userList = () => ({
  data: people.slice(0, 10),
  meta: { page: 1, limit: 10, total: people.length },
})
/** VeloxTS: one of its users; null for an id nobody has. */
export const userOf = (id) => people.find((user) => user.id === id) ?? null
/** VeloxTS: `/debug/memory`. The lab holds it against what the kernel says. */
export const memory = () => process.memoryUsage()

/** Ours: POST /echo. `body` is the parsed JSON. */
export const echoReply = (body) => ({ id: body.id, items: body.items.length })

/** Ours: GET /items/:category/:id and its like. */
export const itemReply = (category, id, page, limit, sort) => ({ category, id, page, limit, sort })

/** Ours: POST /orders. `order` is the checked body. The schema of the reply has no `margin`. */
export function acceptOrder({ reference, customer, lines }) {
  const priced = lines.map(({ sku, quantity, cents }) => ({ sku, quantity, cents: quantity * cents }))
  return {
    reference,
    status: 'accepted',
    customer: { name: customer.name, email: customer.email },
    lines: priced,
    cents: priced.reduce((sum, line) => sum + line.cents, 0),
    margin: 0.4,
  }
}

/** Ours: GET /pages/:id, 20 KB as JSON. Its items are kept as a service keeps its data, and are written for each reply. */
export const page = (id) => ({ id, items: catalogue })
const words = 'large small red green blue soft warm light heavy cotton wool steel'.split(' ')
const catalogue = Array.from({ length: 166 }, (_, index) => ({
  sku: `P-${100_000 + index * 37}`,
  name: [1, 5, 7, 11].map((step) => words[(index * step + (index >> 3)) % words.length]).join(' '),
  description: `${words[index % 7]} and ${words[(index * index) % words.length]}, ${index * 13} pieces`,
  cents: (index * 7919) % 100_000,
  inStock: index % 3 > 0,
}))

/** Ours: POST /uploads/:id. */
export const uploadReply = (id, title, name, bytes) => ({ id, title, name, bytes })

/** Ours: a million requests a second for a minute, more than any of these servers answers, so that a rate limit counts all and refuses none. */
export const manyRequests = 60_000_000

/** Ours: one in 100 of `/work/:id` takes 50 ms, during which its handler waits and the server is free. */
export const isSlow = (id) => Number(id) % 100 === 0
export const slowMilliseconds = 50

/** Ours: how many routes `/api/v1/resource<i>/:id` the program `routes` has, i counting from 0. */
export const routeCount = Number(process.env.ROUTES ?? 100)
