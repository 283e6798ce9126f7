/** Accounts in PostgreSQL, by `pg`: checked at start, a transaction on one client, and a close that waits for queries. */
import { Pool, type PoolClient } from 'pg'
import { createApp, health } from 'volant'
import * as z from 'zod'

/** A request waits so long for the database, in ms, instead of the times below. */
const timeout = process.env.DATABASE_TIMEOUT === undefined ? undefined : Number(process.env.DATABASE_TIMEOUT)

const pool = new Pool({
  connectionString: process.env.DATABASE_URL,
  max: 10, // connections of this process: all processes together have to stay below max_connections of the server
  connectionTimeoutMillis: timeout ?? 2_000, // a handler waits for a free one as long, then it fails
  statement_timeout: timeout ?? 5_000, // the server ends a query that takes longer
})
// Without listeners, a connection that breaks would end the process: an idle one, and one in a transaction.
pool.on('error', () => {})
pool.on('connect', (client) => client.on('error', (error) => app.log.warn(error, 'a connection failed')))

/** Runs `work` on one client, and undoes all of it if it throws. */
async function transaction<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  let broken: Error | undefined
  try {
    await client.query('begin')
    const result = await work(client)
    await client.query('commit')
    return result
  } catch (error) {
    await client.query('rollback').catch((failure: Error) => (broken = failure))
    throw error
  } finally {
    client.release(broken) // a client that could not roll back is not used again
  }
}

export const app = createApp({ limits: { handlerTimeout: timeout ?? 10_000 } })

app.onStart(async () => {
  // listen rejects if the database is not there. A service has migrations of a tool in its place.
  await pool.query(`create table if not exists accounts (
    id text primary key,
    cents bigint not null check (cents >= 0)
  )`)
})
app.onClose(() => pool.end()) // after the last reply; it waits for queries that run
app.register(health, { checks: { database: () => pool.query('select 1') }, timeout })

const Cents = z.number().int().positive().max(1_000_000_000)
const errors = { NO_ACCOUNT: { status: 404 }, NO_FUNDS: { status: 409 } } as const

app.put('/accounts/:id', { body: z.object({ cents: Cents }) }, async (ctx) => {
  // Values are parameters, never parts of the text: no client writes SQL.
  await pool.query(
    'insert into accounts (id, cents) values ($1, $2) on conflict (id) do update set cents = excluded.cents',
    [ctx.params.id, ctx.body.cents],
  )
  ctx.reply(204)
})

app.get('/accounts/:id', { errors }, async (ctx) => {
  const { rows } = await pool.query<{ cents: string }>('select cents from accounts where id = $1', [
    ctx.params.id,
  ])
  const [account] = rows
  if (account === undefined) return ctx.fail('NO_ACCOUNT')
  return { id: ctx.params.id, cents: Number(account.cents) } // pg gives a bigint as text
})

app.post(
  '/transfers',
  { body: z.object({ from: z.string(), to: z.string(), cents: Cents }), errors },
  async (ctx) => {
    const { from, to, cents } = ctx.body
    await transaction(async (client) => {
      // Locked in one order, so that two transfers between the same accounts do not wait for each other.
      const { rows } = await client.query<{ id: string; cents: string }>(
        'select id, cents from accounts where id in ($1, $2) order by id for update',
        [from, to],
      )
      if (rows.length < 2) return ctx.fail('NO_ACCOUNT')
      if (Number(rows.find(({ id }) => id === from)?.cents) < cents) return ctx.fail('NO_FUNDS')
      await client.query('update accounts set cents = cents - $2 where id = $1', [from, cents])
      await client.query('update accounts set cents = cents + $2 where id = $1', [to, cents])
      return undefined
    })
    ctx.log.info({ from, to, cents }, 'transferred')
    ctx.reply(204)
  },
)

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
