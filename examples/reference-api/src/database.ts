/** SQLite behind one small module: `node:sqlite` where Node.js has it (22.13 and later), else better-sqlite3. */
import { mkdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'

export interface User {
  id: number
  name: string
  email: string
  age: number
}

export type NewUser = Omit<User, 'id'>

export type Database = ReturnType<typeof openDatabase>

/** Opens the database, and on first start creates its folder, its table and 1,000 users. */
export function openDatabase(file: string) {
  mkdirSync(dirname(file), { recursive: true })
  const { driver, db } = open(file)
  // FULL syncs the log before a commit returns: what was answered with 201 outlives a crash of the whole machine.
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA busy_timeout = 5000')
  migrate(db)

  const columns = 'id, name, email, age'
  const page = db.prepare(`SELECT ${columns} FROM users WHERE id > ? ORDER BY id LIMIT ?`)
  const byId = db.prepare(`SELECT ${columns} FROM users WHERE id = ?`)
  const byEmail = db.prepare('SELECT 1 FROM users WHERE email = ?')
  const insert = db.prepare(`INSERT INTO users (name, email, age) VALUES (?, ?, ?) RETURNING ${columns}`)

  return {
    /** Which SQLite binding is in use. */
    driver,
    /** At most `limit` users with an id above `after`, by id. */
    listUsers: (after: number, limit: number) => page.all(after, limit) as User[],
    findUser: (id: number) => byId.get(id) as User | undefined,
    /** The stored user, or undefined when the address is taken. */
    addUser: ({ name, email, age }: NewUser) =>
      transaction(db, () => (byEmail.get(email) ? undefined : (insert.get(name, email, age) as User))),
    close: () => db.close(),
  }
}

/** What both bindings offer alike. */
interface Connection {
  exec(sql: string): void
  prepare(sql: string): Statement
  close(): void
}

interface Statement {
  get(...values: unknown[]): unknown
  all(...values: unknown[]): unknown[]
}

function open(file: string): { driver: string; db: Connection } {
  // Not in the types of Node.js 20.
  const builtIn = process.getBuiltinModule('node:sqlite') as
    | { DatabaseSync: new (file: string) => Connection }
    | undefined
  if (builtIn) return { driver: 'node:sqlite', db: new builtIn.DatabaseSync(file) }
  try {
    const BetterSqlite = createRequire(import.meta.url)('better-sqlite3')
    return { driver: 'better-sqlite3', db: new BetterSqlite(file) }
  } catch (cause) {
    const advice =
      'Use Node.js 22.13 or later, or install better-sqlite3 (it needs a C++ compiler and Python 3)'
    throw new Error(`No SQLite: ${advice}`, { cause })
  }
}

function migrate(db: Connection): void {
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

function transaction<T>(db: Connection, work: () => T): T {
  db.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    db.exec('COMMIT')
    return result
  } catch (error) {
    db.exec('ROLLBACK')
    throw error
  }
}
