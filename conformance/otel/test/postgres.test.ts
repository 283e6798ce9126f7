/** Spans of an instrumented database are children of the request's span, on every adapter. */
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { after, afterEach, before, describe, test } from 'node:test'
import { trace } from '@opentelemetry/api'
import { PgInstrumentation } from '@opentelemetry/instrumentation-pg'
import { PostgresServer, withoutPostgres } from '@volant/test-kit'
import type { Pool, PoolClient } from 'pg'
import { before as check } from 'volant'
import { otel } from 'volant/otel'
import { onEach } from '../src/sites.ts'
import { Telemetry } from '../src/telemetry.ts'

const instrumentation = new PgInstrumentation()
// It patches the module when that is required.
const pg = createRequire(import.meta.url)('pg') as typeof import('pg')

describe('PostgreSQL', { skip: withoutPostgres }, () => {
  let telemetry: Telemetry
  let server: PostgresServer
  let pool: Pool

  before(async () => {
    telemetry = Telemetry.register()
    instrumentation.setTracerProvider(trace.getTracerProvider())
    server = await PostgresServer.make()
    await server.start()
    pool = new pg.Pool({ connectionString: server.url, max: 2 })
    pool.on('error', () => {})
    await pool.query('create table notes (id serial primary key, text text)')
    telemetry.reset()
  })
  after(async () => {
    await pool.end()
    await server.end()
    await telemetry.end()
  })

  onEach('queries', (site) => {
    afterEach(() => telemetry.reset())

    test('are children of their request, also of requests that wait for a connection', async () => {
      const app = site.app()
      app.use(otel({ ignore: ['/health'] }))
      app.use(check(async () => void (await pool.query('select 1 as gate'))))
      app.post('/notes/:id', async (ctx) => {
        const client: PoolClient = await pool.connect()
        try {
          await client.query('begin')
          await client.query('insert into notes (text) values ($1)', [ctx.bodyText])
          await client.query('commit')
        } finally {
          client.release()
        }
        return ctx.params.id
      })
      app.get('/stream', async function* () {
        for (let at = 0; at < 3; at++) {
          const { rows } = await pool.query('select count(*)::text as count from notes')
          yield `${rows[0].count}\n`
        }
      })
      app.get('/health', async () => {
        await pool.query('select 1 as health')
        return 'well'
      })
      await site.serve(app, async (url) => {
        const asked = Array.from({ length: 20 }, (_, id) =>
          fetch(`${url}/notes/${id}`, { method: 'POST', body: 'text' }).then((reply) => reply.text()),
        )
        await Promise.all([...asked, fetch(`${url}/stream`).then((reply) => reply.text())])
        await fetch(`${url}/health`).then((reply) => reply.text())
        const roots = () =>
          telemetry.spans.filter(({ instrumentationScope }) => instrumentationScope.name === 'volant')
        while (roots().length < 21) await telemetry.ended(telemetry.spans.length + 1)
        for (const root of roots()) {
          const { traceId, spanId } = root.spanContext()
          const statements = telemetry.spans
            .filter((span) => span.spanContext().traceId === traceId && span !== root)
            .map((span) => {
              if (span.name.startsWith('pg.query')) assert.equal(span.parentSpanContext?.spanId, spanId)
              return span.name
            })
            .filter((name) => name.startsWith('pg.query'))
          assert.equal(statements.length, 4, `${root.name}: ${statements.join(', ')}`)
        }
        // Requests that are ignored have no spans, and neither have their queries.
        assert.ok(
          telemetry.spans.every(({ attributes }) => !JSON.stringify(attributes).includes('as health')),
        )
        assert.equal(new Set(telemetry.spans.map((span) => span.spanContext().traceId)).size, 21)
      })
    })
  })
})
