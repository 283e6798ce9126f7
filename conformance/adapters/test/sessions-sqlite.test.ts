import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, beforeEach, describe, test } from 'node:test'
import { testClock } from '@volant/test-kit'
import { createApp, type App } from 'volant'
import { session, type SessionOptions, sqliteSessions } from 'volant/session'
import { type Database, openDatabase } from './sqlite/database.ts'

describe('sqliteSessions', () => {
  const folder = mkdtempSync(join(tmpdir(), 'volant-sqlite-'))
  after(() => rmSync(folder, { recursive: true, force: true }))

  let files = 0
  let file = ''
  const opened: Database[] = []
  const open = (): Database => {
    const database = openDatabase(file)
    opened.push(database)
    return database
  }
  beforeEach(() => {
    file = join(folder, `sessions-${++files}.db`)
  })
  afterEach(() => {
    for (const database of opened.splice(0)) database.close()
  })

  const reports: string[] = []
  const build = (database: Database, options: Partial<SessionOptions> = {}): App => {
    const app = createApp({
      signals: false,
      adapter: { type: 'node-http' },
      report: (error) => void reports.push(String(error)),
    })
    const store = sqliteSessions(database)
    const scope = app.with(session<Record<string, number>>({ store, storeTimeout: 20_000, ...options }))
    scope.post('/:key', (ctx) => {
      ctx.state.session.set(ctx.params.key, 1)
      return 'set'
    })
    scope.get('/count/:prefix', (ctx) => {
      let count = 0
      while (ctx.state.session.get(`${ctx.params.prefix}${count}`) === 1) count++
      return String(count)
    })
    return app
  }
  const begin = async (app: App): Promise<string> => {
    const reply = await app.inject({ method: 'POST', url: '/first' })
    assert.equal(reply.status, 200, reply.text())
    return String(reply.headers['set-cookie']).split(';')[0] as string
  }
  const post = async (app: App, url: string, cookie: string): Promise<number> =>
    (await app.inject({ method: 'POST', url, headers: { cookie } })).status
  const count = async (app: App, prefix: string, cookie: string): Promise<number> => {
    const reply = await app.inject({ url: `/count/${prefix}`, headers: { cookie } })
    assert.equal(reply.status, 200, reply.text())
    return Number(reply.text())
  }
  const rows = (database: Database): number =>
    (database.prepare('SELECT count(*) AS count FROM volant_sessions').get() as { count: number }).count

  test('a session outlives its process', async () => {
    const cookie = await begin(build(open()))
    assert.equal(await post(build(open()), '/a0', cookie), 200)
    assert.equal(await count(build(open()), 'a', cookie), 1)
  })

  test('two processes that write one session lose none of its keys', async () => {
    const database = open()
    database.exec('PRAGMA journal_mode = WAL')
    const app = build(database)
    const cookie = await begin(app)
    const statuses = await Promise.all(
      ['a', 'b'].map(
        (prefix) =>
          new Promise<number[]>((resolve, reject) => {
            const child = fork(new URL('./sqlite/worker.js', import.meta.url), [file, cookie, prefix, '100'])
            child.once('message', (list) => resolve(list as number[]))
            child.once('error', reject)
            child.once('exit', (code) => code !== 0 && reject(new Error(`a worker ended with ${code}`)))
          }),
      ),
    )
    assert.deepEqual(statuses.flat(), Array(200).fill(200))
    assert.equal(await count(app, 'a', cookie), 100)
    assert.equal(await count(app, 'b', cookie), 100)
  })

  test('a database that others have locked is waited for, and one that stays so is 503', async (t) => {
    const clock = testClock(t)
    const app = build(open())
    const cookie = await begin(app)
    const other = open()
    other.exec('BEGIN EXCLUSIVE')
    const waits = post(app, '/a0', cookie)
    // It is read first, which waits as well.
    await clock.advance(30)
    other.exec('COMMIT')
    await clock.advance(1_000)
    assert.equal(await waits, 200)
    other.exec('BEGIN EXCLUSIVE')
    const hasty = build(open(), { storeTimeout: 40 })
    const late = hasty.inject({ method: 'POST', url: '/a1', headers: { cookie } })
    await clock.advance(1_000)
    const reply = await late
    assert.deepEqual([reply.status, reply.headers['retry-after']], [503, '1'])
    other.exec('COMMIT')
    assert.equal(await post(app, '/a1', cookie), 200)
    assert.equal(await count(app, 'a', cookie), 2)
  })

  test('nothing is written into a transaction of the app, which it may roll back', async (t) => {
    const clock = testClock(t)
    const database = open()
    const hasState = 'inTransaction' in database || 'isTransaction' in database
    const app = build(database)
    const cookie = await begin(app)
    database.exec('BEGIN')
    const waits = post(app, '/a0', cookie)
    await clock.advance(30)
    database.exec('ROLLBACK')
    await clock.advance(1_000)
    assert.equal(await waits, 200)
    // Before 22.16 node:sqlite does not say whether a transaction is open.
    if (hasState) assert.equal(await count(app, 'a', cookie), 1)
  })

  test('a file that is deleted while it is open: 503, or sessions as before, and the process lives', async () => {
    const app = build(open())
    const cookie = await begin(app)
    rmSync(file)
    const written = await post(app, '/a0', cookie)
    assert.ok(written === 200 || written === 503, String(written))
    const read = await app.inject({ url: '/count/a', headers: { cookie } })
    assert.ok(read.status === 200 || read.status === 503, String(read.status))
    if (read.status === 200) assert.equal(read.text(), written === 200 ? '1' : '0')
  })

  test('a table that is dropped is made again, and its sessions are gone', async () => {
    const database = open()
    const app = build(database)
    const cookie = await begin(app)
    database.exec('DROP TABLE volant_sessions')
    assert.equal(await post(app, '/a0', cookie), 503)
    const again = await begin(app)
    assert.equal(await post(app, '/a0', again), 200)
    assert.equal(await count(app, 'a', again), 1)
  })

  test('a file that is no database: 503, and it is reported once', async () => {
    const database = open()
    const app = build(database)
    database.exec('CREATE TABLE volant_sessions (other TEXT)')
    reports.length = 0
    for (let each = 0; each < 3; each++) {
      const reply = await app.inject({ method: 'POST', url: '/a' })
      assert.equal(reply.status, 503)
      assert.equal(reply.headers['set-cookie'], undefined)
    }
    assert.equal(reports.length, 1)
    assert.match(reports[0] as string, /the store of sessions fails \(.*no (?:such )?column/)
  })

  test('sessions that have expired are removed a few at a time', async (t) => {
    const clock = testClock(t)
    const database = open()
    const store = sqliteSessions(database)
    await store.get('x')
    const insert = database.prepare(
      "INSERT INTO volant_sessions (id, value, version, expires) VALUES (?, '{}', 1, 1)",
    )
    for (let each = 0; each < 450; each++) insert.run(`old-${each}`)
    const record = { value: '{}', version: 1, ttl: 60_000 }
    const counts: number[] = []
    for (let each = 0; each < 4; each++) {
      await store.set(`new-${each}`, record)
      counts.push(rows(database))
    }
    assert.deepEqual(counts, [251, 52, 3, 4])
    insert.run('older')
    await store.set('new-4', record)
    assert.equal(rows(database), 6)
    await clock.advance(60_001)
    await store.set('new-5', record)
    assert.equal(await store.get('new-0'), null)
    assert.equal(rows(database), 1)
  })

  test('versions: a set of another version writes nothing, and an expired session is none', async (t) => {
    const clock = testClock(t)
    const store = sqliteSessions(open(), { table: 'logins' })
    const record = (version: number, ttl = 60_000) => ({ value: `v${version}`, version, ttl })
    assert.equal(await store.set('a', record(2)), false)
    assert.equal(await store.set('a', record(1)), true)
    assert.equal(await store.set('a', record(1)), false)
    assert.equal(await store.set('a', record(2)), true)
    assert.equal(await store.set('a', record(2)), false)
    assert.equal((await store.get('a'))?.value, 'v2')
    await store.touch('a', 120_000)
    const stored = await store.get('a')
    assert.equal(stored?.version, 2)
    assert.ok((stored?.ttl ?? 0) > 100_000)
    await store.touch('b', 1_000)
    assert.equal(await store.get('b'), null)
    await clock.advance(120_001)
    assert.equal(await store.get('a'), null)
    assert.equal(await store.set('a', record(3)), false)
    assert.equal(await store.set('a', record(1)), true)
    await store.destroy('a')
    assert.equal(await store.get('a'), null)
  })

  test('what is no database, and what is no name of a table, is refused', () => {
    for (const wrong of [undefined, null, {}, 'file.db']) {
      assert.throws(() => sqliteSessions(wrong as never), /sqliteSessions takes a database: new DatabaseSync/)
    }
    for (const table of ['', 'a b', 'x;DROP TABLE y', '1a']) {
      assert.throws(() => sqliteSessions(open(), { table }), /sqliteSessions: table takes a name/)
    }
    assert.throws(() => sqliteSessions(open(), { tableName: 'x' } as never), /has no option "tableName"/)
  })
})
