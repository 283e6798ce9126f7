/** Writes keys of one session from a process of its own: `worker.js FILE COOKIE PREFIX COUNT`. */
import { createApp } from 'volant'
import { session, sqliteSessions } from 'volant/session'
import { openDatabase } from './database.ts'

const [file = '', cookie = '', prefix = '', count = '0'] = process.argv.slice(2)
const database = openDatabase(file)
const app = createApp({ signals: false, adapter: { type: 'node-http' } })
const scope = app.with(
  session<Record<string, number>>({ store: sqliteSessions(database), storeTimeout: 30_000 }),
)
scope.post('/:key', (ctx) => {
  ctx.state.session.set(ctx.params.key, 1)
  return 'set'
})
const replies = await Promise.all(
  Array.from({ length: Number(count) }, (_, at) =>
    app.inject({ method: 'POST', url: `/${prefix}${at}`, headers: { cookie } }),
  ),
)
process.send?.(replies.map(({ status }) => status))
database.close()
process.disconnect?.()
