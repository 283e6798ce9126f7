/** SQLite behind one small module: `node:sqlite` where Node.js has it (22.13 and later), else better-sqlite3. */
import { mkdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'

/** What both bindings offer alike. */
export interface Sqlite {
  exec(sql: string): void
  prepare(sql: string): Statement
  close(): void
}

export interface Statement {
  get(...values: unknown[]): unknown
  all(...values: unknown[]): unknown[]
  run(...values: unknown[]): { lastInsertRowid: number | bigint }
}

export interface Opened {
  /** Which binding is in use. */
  driver: string
  db: Sqlite
}

/** Opens the file, and on first start creates its folder, its table and 1,000 users. Throws with the file's name. */
export function openSqlite(file: string): Opened {
  mkdirSync(dirname(file), { recursive: true })
  const opened = open(file)
  try {
    // The timeout comes first: workers that start at once wait for each other here as well.
    // FULL syncs the log before a commit returns: what was answered with 201 outlives a crash of the whole machine.
    opened.db.exec('PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
    migrate(opened.db)
  } catch (cause) {
    opened.db.close()
    throw new Error(`the database ${file} cannot be used: ${(cause as Error).message}`, { cause })
  }
  return opened
}

/** Throws what `work` throws, or what SQLite says; then nothing of it was stored. */
export function transaction<T>(db: Sqlite, work: () => T): T {
  db.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    db.exec('COMMIT')
    return result
  } catch (error) {
    try {
      db.exec('ROLLBACK')
    } catch {
      // SQLite rolls back by itself when the disk is full, among others. `error` is what happened; that there is no
      // transaction left to roll back is no news. https://sqlite.org/lang_transaction.html
    }
    throw error
  }
}

/** True when a change was not stored because the disk is full (SQLITE_FULL); what was stored before can be read. */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  // better-sqlite3 gives the name of the result code, node:sqlite its number.
  const { code, errcode } = error as { code?: unknown; errcode?: unknown }
  return code === 'SQLITE_FULL' || errcode === 13
}

function open(file: string): Opened {
  const builtIn = process.getBuiltinModule('node:sqlite')
  if (builtIn) return { driver: 'node:sqlite', db: new builtIn.DatabaseSync(file) }
  try {
    const BetterSqlite = createRequire(import.meta.url)('better-sqlite3')
    return { driver: 'better-sqlite3', db: new BetterSqlite(file) }
  } catch (cause) {
    const advice =
      'Use Node.js 22.13 or later. On older versions run npm ci where a C++ compiler and Python 3 are installed'
    throw new Error(`This Node.js has no SQLite, and better-sqlite3 is not installed. ${advice}`, { cause })
  }
}

function migrate(db: Sqlite): void {
  transaction(db, () => {
    const { user_version: version } = db.prepare('PRAGMA user_version').get() as { user_version: number }
    if (version > 0) return
    db.exec(`
      CREATE TABLE users (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        email TEXT NOT NULL UNIQUE COLLATE NOCASE,
        age INTEGER NOT NULL
      ) STRICT;
      WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1000)
      INSERT INTO users SELECT n, 'User ' || n, 'user' || n || '@example.com', 18 + n % 60 FROM numbers;
      PRAGMA user_version = 1`)
  })
}
