/** What clerks do: add books, upload their covers, take the list away as CSV. */
import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Scope } from 'volant'
import { api } from './api.ts'
import { type BookRow, columns } from './books.ts'
import type { Database } from './database.ts'

export function stock(scope: Scope, database: Database, covers: string): void {
  scope.implement(api.books.add, async (ctx) => {
    const { title, author, cents, stock: copies } = ctx.body
    const [book] = await database.rows<BookRow>(
      `INSERT INTO books (title, author, cents, stock) VALUES (?, ?, ?, ?) RETURNING ${columns}`,
      title,
      author,
      cents,
      copies,
    )
    ctx.log.info({ book: book?.id }, 'added')
    return ctx.header('location', `/api/books/${book?.id}`).reply(201, book as BookRow)
  })

  scope.implement(api.books.cover, async (ctx) => {
    const bytes = await ctx.body.cover.bytes()
    const extension = pictureOf(bytes)
    if (extension === undefined) throw ctx.fail('NOT_A_PICTURE')
    // The name has a hash of the content, so that browsers may keep the file for ever.
    const name = `${createHash('sha256').update(bytes).digest('hex').slice(0, 32)}.${extension}`
    await writeFile(join(covers, name), bytes)
    const [book] = await database.rows<BookRow>(
      `UPDATE books SET cover = ? WHERE id = ? RETURNING ${columns}`,
      `/covers/${name}`,
      ctx.params.id,
    )
    if (book === undefined) throw ctx.fail('NO_BOOK')
    return book
  })

  scope.implement(api.books.export, (ctx) => {
    ctx.header('content-disposition', 'attachment; filename="stock.csv"')
    return ctx.stream(linesOf(database), { type: 'text/csv; charset=utf-8' })
  })
}

/** Reads a page of rows at a time, when the client has taken the one before. */
async function* linesOf(database: Database): AsyncGenerator<string> {
  yield 'id,title,author,cents,stock\r\n'
  for (let after = 0, rows: BookRow[] = []; ; after = rows.at(-1)?.id ?? after) {
    rows = await database.rows(`SELECT ${columns} FROM books WHERE id > ? ORDER BY id LIMIT 500`, after)
    if (rows.length === 0) return
    yield rows
      .map((row) => [row.id, row.title, row.author, row.cents, row.stock].map(cell).join(','))
      .join('\r\n')
    yield '\r\n'
  }
}

/** RFC 4180; a spreadsheet would run a text that begins as a formula does. */
function cell(value: string | number): string {
  if (typeof value === 'number') return String(value)
  return `"${(/^[=+\-@\t\r]/.test(value) ? `'${value}` : value).replaceAll('"', '""')}"`
}

/** What a file is, by its first bytes: the name and the type are what the client says. */
function pictureOf(bytes: Uint8Array): 'png' | 'jpg' | 'webp' | undefined {
  const start = Buffer.from(bytes.subarray(0, 12)).toString('latin1')
  if (start.startsWith('\x89PNG\r\n\x1a\n')) return 'png'
  if (start.startsWith('\xff\xd8\xff')) return 'jpg'
  return start.startsWith('RIFF') && start.endsWith('WEBP') ? 'webp' : undefined
}
