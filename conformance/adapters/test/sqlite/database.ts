/** A database of either binding of SQLite: `node:sqlite` where Node.js has it (22.13 and later), else better-sqlite3. */
import { createRequire } from 'node:module'
import type { SqliteDatabase } from 'volant/session'

export type Database = SqliteDatabase & { close(): void }

/** Opens a file. A statement that finds it locked fails at once. */
export function openDatabase(file: string): Database {
  const builtIn = process.getBuiltinModule('node:sqlite')
  if (builtIn) return new builtIn.DatabaseSync(file)
  const BetterSqlite = createRequire(import.meta.url)('better-sqlite3') as new (
    file: string,
    options: { timeout: number },
  ) => Database
  return new BetterSqlite(file, { timeout: 0 })
}
