// What every server of the scenario `users` is given: the token, the schema, and 1,000 users in a file of their own
// with SQLite's write-ahead log, as a service would keep them, and their one statement, prepared once.
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { z } from 'zod'

export const bearer = 'Bearer valid-token'

export const params = z.object({ id: z.string().regex(/^\d+$/) })

const db = new Database(join(process.env.SCRATCH, 'users.db'))
db.exec(`
  PRAGMA journal_mode = WAL;
  CREATE TABLE users (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    email TEXT NOT NULL UNIQUE,
    age INTEGER NOT NULL
  ) STRICT;
  WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1000)
  INSERT INTO users SELECT n, 'User ' || n, 'user' || n || '@example.com', 18 + n % 60 FROM numbers;
`)

export const findUser = db.prepare('SELECT id, name, email, age FROM users WHERE id = ?')
