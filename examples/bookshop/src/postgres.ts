/** PostgreSQL, by a pool of connections. */
import { Pool } from 'pg'
import type { Database, Statement } from './database.ts'

export function openPostgres(url: string, timeout = 5_000): Database {
  const pool = new Pool({ connectionString: url, max: 10, connectionTimeoutMillis: timeout })
  pool.on('connect', (client) => client.on('error', (error) => console.error('PostgreSQL:', error.message)))
  pool.on('error', () => {}) // without listeners, a connection that breaks would end the process
  return {
    rows: async (...statement) => (await pool.query(queryOf(statement))).rows,
    async together(...statements) {
      const client = await pool.connect()
      try {
        let row = null
        await client.query('BEGIN')
        for (const statement of statements) {
          if ((row = (await client.query(queryOf(statement))).rows[0] ?? null) === null) break
        }
        await client.query(row === null ? 'ROLLBACK' : 'COMMIT')
        client.release()
        return row
      } catch (error) {
        client.release(true) // closing the connection undoes the transaction
        throw error
      }
    },
    run: async (sql) => void (await pool.query(sql)),
    close: () => pool.end(),
  }
}

function queryOf([sql, ...values]: Statement) {
  let place = 0
  return { text: sql.replaceAll('?', () => `$${++place}`), values }
}
