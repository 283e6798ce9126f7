/** The shop's database: SQLite in a file, or PostgreSQL where the URL says so. Both take the same SQL. */
import { openPostgres } from './postgres.ts'
import { openSqlite } from './sqlite.ts'

/** SQL that gives rows, with a `?` for each value. */
export type Statement = readonly [sql: string, ...values: readonly (string | number | null)[]]

export interface Database {
  /** Gives the rows of a statement. */
  rows<Row>(...statement: Statement): Promise<Row[]>
  /** Runs all statements and gives the row of the last one; null, and nothing is done, where one gives no row. */
  together<Row>(...statements: readonly Statement[]): Promise<Row | null>
  /** Runs SQL that gives no rows. */
  run(sql: string): Promise<void>
  close(): Promise<void>
}

/** `url` is `postgres://…`, or the name of a file. `timeout` is how long a request waits for a connection, in ms. */
export async function openDatabase(url: string, timeout?: number): Promise<Database> {
  const isPostgres = /^postgres(?:ql)?:/.test(url)
  const database = isPostgres ? openPostgres(url, timeout) : openSqlite(url)
  const id = `id INTEGER ${isPostgres ? 'GENERATED ALWAYS AS IDENTITY' : ''} PRIMARY KEY`
  await database.run(`
    CREATE TABLE IF NOT EXISTS users (
      ${id}, email TEXT NOT NULL UNIQUE, password TEXT NOT NULL, role TEXT NOT NULL
    );
    CREATE TABLE IF NOT EXISTS books (
      ${id}, title TEXT NOT NULL, author TEXT NOT NULL, cents INTEGER NOT NULL, stock INTEGER NOT NULL, cover TEXT
    );
    CREATE TABLE IF NOT EXISTS orders (
      ${id}, email TEXT NOT NULL, book INTEGER NOT NULL REFERENCES books, copies INTEGER NOT NULL,
      cents INTEGER NOT NULL, ordered TEXT NOT NULL
    )`)
  return database
}
