/** Books for everybody to look at. */
import type { Scope } from 'volant'
import type { z } from 'zod'
import { api, type Book } from './api.ts'
import type { Database } from './database.ts'

export type BookRow = z.infer<typeof Book>
export const columns = 'id, title, author, cents, stock, cover'

export function books(scope: Scope, database: Database): void {
  scope.implement(api.books.list, async (ctx) => {
    const { search, after, limit } = ctx.query
    const part = `%${search.toLowerCase().replaceAll(/[%_\\\p{Cc}]/gu, '')}%`
    const page = await database.rows<BookRow>(
      `SELECT ${columns} FROM books WHERE id > ? AND (lower(title) LIKE ? OR lower(author) LIKE ?)
       ORDER BY id LIMIT ?`,
      after,
      part,
      part,
      limit,
    )
    return { books: page, next: page.length === limit ? (page.at(-1)?.id ?? null) : null }
  })

  scope.implement(api.books.find, async (ctx) => {
    const [book] = await database.rows<BookRow>(`SELECT ${columns} FROM books WHERE id = ?`, ctx.params.id)
    if (book === undefined) throw ctx.fail('NO_BOOK')
    return book
  })
}
