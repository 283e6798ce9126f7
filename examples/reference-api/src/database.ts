/** The users of the service, with statements that are prepared once. */
import { type Opened, transaction } from './sqlite.ts'

export interface User {
  id: number
  name: string
  email: string
  age: number
}

export type NewUser = Omit<User, 'id'>

export type Database = ReturnType<typeof databaseOf>

export function databaseOf({ driver, db }: Opened) {
  const columns = 'id, name, email, age'
  const ping = db.prepare('SELECT 1 FROM users LIMIT 1')
  const page = db.prepare(`SELECT ${columns} FROM users WHERE id > ? ORDER BY id LIMIT ?`)
  const byId = db.prepare(`SELECT ${columns} FROM users WHERE id = ?`)
  const byEmail = db.prepare('SELECT 1 FROM users WHERE email = ?')
  const insert = db.prepare(`INSERT INTO users (name, email, age) VALUES (?, ?, ?) RETURNING ${columns}`)

  return {
    /** Which SQLite binding is in use. */
    driver,
    /** Throws when the file cannot be read. */
    ping: () => void ping.get(),
    /** At most `limit` users with an id above `after`, by id. */
    listUsers: (after: number, limit: number) => page.all(after, limit) as User[],
    findUser: (id: number) => byId.get(id) as User | undefined,
    /** The stored user, or undefined when the address is taken. Throws when nothing could be stored. */
    addUser: ({ name, email, age }: NewUser) =>
      transaction(db, () => (byEmail.get(email) ? undefined : (insert.get(name, email, age) as User))),
    close: () => db.close(),
  }
}
