/** `sqliteSessions()` keeps sessions in a table of SQLite. */
import { setTimeout as delay } from 'node:timers/promises'
import { bad } from '../options/bad-option.ts'
import { checkNames, checkText } from '../options/checks.ts'
import type { SessionStore } from './store.ts'

/** What the store needs of a database: `DatabaseSync` of `node:sqlite` and better-sqlite3 have it. */
export interface SqliteDatabase {
  /** Runs statements. */
  exec(sql: string): unknown
  /** Prepares a statement. */
  prepare(sql: string): SqliteStatement
}

/** A prepared statement. */
export interface SqliteStatement {
  /** Gives the first row. */
  get(...values: (string | number)[]): unknown
  /** Runs the statement, and gives how many rows it changed. */
  run(...values: (string | number)[]): { changes: number | bigint }
}

/** The options of `sqliteSessions`. */
export interface SqliteSessionsOptions {
  /** The name of the table, which is made where it is missing. Default `volant_sessions`. */
  table?: string | undefined
}

interface Statements {
  readonly get: SqliteStatement
  readonly insert: SqliteStatement
  readonly update: SqliteStatement
  readonly touch: SqliteStatement
  readonly destroy: SqliteStatement
  readonly sweep: SqliteStatement
}

/** So many sessions that have expired are removed at a time: more would keep requests waiting. */
const sweepSize = 200
const sweepEveryMs = 60_000
/** While others write, a statement is tried again after so many milliseconds. The guard ends what takes too long. */
const busyMs = 10
const mostTries = 500

/**
 * Makes a store of a database of `node:sqlite` or better-sqlite3:
 *
 *     const database = new DatabaseSync('sessions.db')
 *     database.exec('PRAGMA journal_mode = WAL')
 *     const sessions = session({ store: sqliteSessions(database) })
 *
 * Several processes may share a file. Give the store a connection of its own: what it writes while another part of the
 * app has a transaction open on the same connection would be rolled back with that, so that the store waits for its end.
 * Sessions that have expired are removed a few at a time. Closing the database is left to you. Throws `E_BAD_OPTION`.
 */
export function sqliteSessions(database: SqliteDatabase, options: SqliteSessionsOptions = {}): SessionStore {
  checkNames('sqliteSessions', options, ['table'])
  const { exec, prepare } = (database ?? {}) as Partial<Record<keyof SqliteDatabase, unknown>>
  if (typeof exec !== 'function' || typeof prepare !== 'function') {
    throw bad(
      'sqliteSessions',
      database,
      'a database: new DatabaseSync(file) of node:sqlite, or new Database(file) of better-sqlite3',
    )
  }
  const wanted = 'a name of 1 to 64 letters, digits and _, which begins with a letter'
  const table = checkText(
    'sqliteSessions: table',
    options.table ?? 'volant_sessions',
    /^[a-z]\w{0,63}$/i,
    wanted,
  )
  let statements: Statements | null = null
  let swept = 0

  const run = async <T>(work: (statements: Statements, now: number) => T): Promise<T> => {
    for (let tries = 1; ; tries++) {
      try {
        if (!hasTransaction(database)) return work((statements ??= prepared(database, table)), Date.now())
      } catch (error) {
        // The table may be gone, with the file that it was in.
        if (!isBusy(error)) statements = null
        if (!isBusy(error) || tries === mostTries) throw error
      }
      if (tries === mostTries) throw new Error('the connection has a transaction open that does not end')
      await delay(busyMs)
    }
  }

  const sweep = ({ sweep: statement }: Statements, now: number): void => {
    if (now - swept < sweepEveryMs) return
    try {
      // What is left is removed with the next session that is written.
      if (Number(statement.run(now).changes) < sweepSize) swept = now
    } catch {
      // The session is written, and must not be written again because another connection writes now.
    }
  }

  return {
    get: (id) =>
      run((each, now) => {
        const row = each.get.get(id, now) as { value: string; version: number; expires: number } | undefined
        return row === undefined ? null : { value: row.value, version: row.version, ttl: row.expires - now }
      }),
    set: (id, { value, version, ttl }) =>
      run((each, now) => {
        const expires = now + Math.ceil(ttl)
        const { changes } =
          version === 1
            ? each.insert.run(id, value, expires, now)
            : each.update.run(value, version, expires, id, version - 1, now)
        sweep(each, now)
        return Number(changes) === 1
      }),
    touch: (id, ttl) => run((each, now) => void each.touch.run(now + Math.ceil(ttl), id, now)),
    destroy: (id) => run((each) => void each.destroy.run(id)),
  }
}

function prepared(database: SqliteDatabase, table: string): Statements {
  database.exec(`
    CREATE TABLE IF NOT EXISTS ${table} (
      id TEXT PRIMARY KEY,
      value TEXT NOT NULL,
      version INTEGER NOT NULL,
      expires INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS ${table}_expires ON ${table} (expires)`)
  return {
    get: database.prepare(`SELECT value, version, expires FROM ${table} WHERE id = ? AND expires > ?`),
    insert: database.prepare(`
      INSERT INTO ${table} (id, value, version, expires) VALUES (?, ?, 1, ?)
      ON CONFLICT (id) DO UPDATE SET value = excluded.value, version = 1, expires = excluded.expires
      WHERE ${table}.expires <= ?`),
    update: database.prepare(`
      UPDATE ${table} SET value = ?, version = ?, expires = ? WHERE id = ? AND version = ? AND expires > ?`),
    touch: database.prepare(`UPDATE ${table} SET expires = ? WHERE id = ? AND expires > ?`),
    destroy: database.prepare(`DELETE FROM ${table} WHERE id = ?`),
    sweep: database.prepare(
      `DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} WHERE expires <= ? LIMIT ${sweepSize})`,
    ),
  }
}

/** better-sqlite3 says `inTransaction`, node:sqlite `isTransaction` from 22.16 and 24.0 on. */
function hasTransaction(database: object): boolean {
  const { inTransaction, isTransaction } = database as { inTransaction?: unknown; isTransaction?: unknown }
  return inTransaction === true || isTransaction === true
}

/** True where another connection writes: SQLITE_BUSY and SQLITE_LOCKED, with what is added to them. */
function isBusy(error: unknown): boolean {
  const { code, errcode } = error as { code?: unknown; errcode?: unknown }
  if (typeof errcode === 'number') return [5, 6].includes(errcode & 0xff)
  return typeof code === 'string' && /^SQLITE_(?:BUSY|LOCKED)/.test(code)
}
