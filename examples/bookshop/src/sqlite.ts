/** SQLite: `node:sqlite` where Node.js has it (22.13 and later), else better-sqlite3. */
import { createRequire } from 'node:module'
import type { Database, Statement } from './database.ts'

interface Sqlite {
  exec(sql: string): void
  prepare(sql: string): { all(...values: unknown[]): unknown[] }
  close(): void
}

export function openSqlite(file: string): Database {
  const Driver =
    process.getBuiltinModule('node:sqlite')?.DatabaseSync ?? createRequire(import.meta.url)('better-sqlite3')
  const db: Sqlite = new Driver(file)
  db.exec('PRAGMA journal_mode = WAL; PRAGMA busy_timeout = 5000; PRAGMA foreign_keys = ON')
  const rows = ([sql, ...values]: Statement): unknown[] => db.prepare(sql).all(...values)
  return {
    rows: async <Row>(...statement: Statement) => rows(statement) as Row[],
    async together<Row>(...statements: readonly Statement[]) {
      let row: unknown = null
      db.exec('BEGIN IMMEDIATE') // until COMMIT nothing is awaited, so no other request comes in between
      try {
        for (const statement of statements) if ((row = rows(statement)[0] ?? null) === null) break
      } catch (error) {
        row = null
        throw error
      } finally {
        db.exec(row === null ? 'ROLLBACK' : 'COMMIT')
      }
      return row as Row | null
    },
    run: async (sql) => db.exec(sql),
    close: async () => db.close(),
  }
}
