// What every server of the program `users` is given: the token, the schemas, and 1,000 users in a file of their own
// with SQLite's write-ahead log, as a service would keep them, and the statements, prepared once. `synchronous` is
// NORMAL: with FULL the POST rows would measure fsync of the disk. The engine is the runtime's own where it has one.
import { join } from 'node:path'
import { z } from 'zod'

export const bearer = 'Bearer valid-token'

export const params = z.object({ id: z.string().regex(/^\d+$/) })

export const newUser = z.object({
  name: z.string().min(2).max(100),
  email: z.email(),
  age: z.number().int().min(18).max(120),
})

const db = await open(join(process.env.SCRATCH, 'users.db'))
db.exec(`
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  CREATE TABLE users (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    email TEXT NOT NULL UNIQUE,
    age INTEGER NOT NULL
  ) STRICT;
  WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1000)
  INSERT INTO users SELECT n, 'User ' || n, 'user' || n || '@example.com', 18 + n % 60 FROM numbers;
`)

/** `.get(id)`: the row, or undefined or null. */
export const findUser = db.prepare('SELECT id, name, email, age FROM users WHERE id = ?')
/** `.get(email)`: the row `{ id }`, or undefined or null. */
export const findEmail = db.prepare('SELECT id FROM users WHERE email = ?')
/** `.run(name, email, age).lastInsertRowid` is its id. */
export const insertUser = db.prepare('INSERT INTO users (name, email, age) VALUES (?, ?, ?)')

async function open(file) {
  if (process.versions.bun) return new (await import('bun:sqlite')).Database(file)
  const [major, minor] = process.versions.node.split('.').map(Number)
  // node:sqlite needs no flag from 22.13 on.
  if (major > 22 || (major === 22 && minor >= 13)) {
    return new (await import('node:sqlite')).DatabaseSync(file)
  }
  return new (await import('better-sqlite3')).default(file)
}
