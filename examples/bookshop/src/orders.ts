/** Orders. An order and the stock of its book change together, so that no copy is sold twice. */
import type { z } from 'zod'
import type { Members } from './accounts.ts'
import { api, type Order } from './api.ts'
import type { Database } from './database.ts'

type OrderRow = z.infer<typeof Order>
const columns = 'id, book, copies, cents, ordered'

export function orders(scope: Members, database: Database): void {
  scope.implement(api.orders.list, (ctx) =>
    database.rows<OrderRow>(
      `SELECT ${columns} FROM orders WHERE email = ? ORDER BY id DESC LIMIT 50`,
      ctx.state.user.email,
    ),
  )

  scope.implement(api.orders.place, async (ctx) => {
    const { book, copies } = ctx.body
    const order = await database.together<OrderRow>(
      ['UPDATE books SET stock = stock - ? WHERE id = ? AND stock >= ? RETURNING id', copies, book, copies],
      [
        `INSERT INTO orders (email, book, copies, cents, ordered)
         SELECT ?, id, ?, cents * ?, ? FROM books WHERE id = ? RETURNING ${columns}`,
        ctx.state.user.email,
        copies,
        copies,
        new Date().toISOString(),
        book,
      ],
    )
    if (order === null) throw ctx.fail('SOLD_OUT')
    ctx.log.info({ order: order.id }, 'ordered')
    return ctx.reply(201, order)
  })
}
