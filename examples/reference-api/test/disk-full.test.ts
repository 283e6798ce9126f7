/** A full disk: once as SQLite's own limit, which every system has, and once as a small file system, which needs root. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { type App, createApp } from 'volant'
import { databaseOf } from '../src/database.ts'
import { reference } from '../src/profiles/reference.ts'
import { isDiskFull, openSqlite, transaction } from '../src/sqlite.ts'
import { users } from '../src/users.ts'

const folder = mkdtempSync(join(tmpdir(), 'disk-full-'))
const disk = join(folder, 'disk')
const mounted = mount()
const unmountable = !mounted && 'a file system of 512 KiB cannot be mounted here'

after(() => {
  if (mounted) spawnSync('umount', ['--lazy', disk])
  rmSync(folder, { recursive: true })
})

test('a transaction says what failed in it, though SQLite has rolled it back already', () => {
  const { db } = openSqlite(join(folder, 'transaction.db'))
  // Without an index: of such a statement SQLite cannot undo a part, so it rolls the whole transaction back.
  db.exec('CREATE TABLE texts (text TEXT)')
  limit(db)
  const insert = db.prepare('INSERT INTO texts VALUES (?)')
  for (let round = 0; round < 2; round++)
    assert.throws(() => transaction(db, () => insert.run('x'.repeat(100_000))), isDiskFull)
  assert.throws(() => transaction(db, () => db.exec('no SQL')), /syntax error/)
  assert.throws(
    () =>
      transaction(db, () => {
        db.exec('DELETE FROM users')
        throw new RangeError('mine')
      }),
    RangeError,
  )
  assert.deepEqual(
    { ...(db.prepare('SELECT count(*) AS count FROM users').get() as object) },
    { count: 1000 },
  )
  db.close()
})

test('no other error is that of a full disk', () => {
  const { db } = openSqlite(join(folder, 'other.db'))
  const insert = db.prepare("INSERT INTO users (name, email, age) VALUES ('A', 'user1@example.com', 1)")
  assert.throws(
    () => insert.run(),
    (error) => !isDiskFull(error) && /UNIQUE/.test((error as Error).message),
  )
  for (const other of [undefined, null, 13, { errcode: 13 }, new Error('database or disk is full')])
    assert.equal(isDiskFull(other), false)
  db.close()
})

test('a database that cannot be used is named', () => {
  const file = join(folder, 'text.db')
  writeFileSync(file, 'not a database, but longer than the header of one: '.repeat(20))
  assert.throws(() => openSqlite(file), {
    message: `the database ${file} cannot be used: file is not a database`,
  })
})

test('POST on a full disk is 507 with a code, and the error of SQLite is reported', async () => {
  const sqlite = openSqlite(join(folder, 'service.db'))
  const reports: unknown[] = []
  const app = createApp({ signals: false, report: (error) => void reports.push(error) })
  users(app, { database: databaseOf(sqlite), token: 'secret', mostAdded: 1_000_000 })
  limit(sqlite.db)
  const stored = await fill(app, reports)
  const { users: read } = (await app.inject('/api/users?after=1000&limit=100')).json() as { users: unknown[] }
  assert.equal(read.length, stored)
  sqlite.db.exec('PRAGMA max_page_count = 100000')
  assert.equal((await add(app)).status, 201, 'there is room again')
  await app.close({ drainIdle: 0 })
  sqlite.db.close()
})

test('a real full disk: 507, then 201 when there is room again', { skip: unmountable }, async () => {
  const reports: unknown[] = []
  const app = reference(
    { signals: false, report: (error) => void reports.push(error) },
    // A busy machine refuses no request here.
    { database: join(disk, 'reference.db'), token: 'secret', maxEventLoopDelay: 9_999 },
  )
  // This file is removed again below, so that there is room once more.
  writeFileSync(join(disk, 'filler'), Buffer.alloc(100_000))
  await fill(app, reports)
  assert.equal((await app.inject('/ready')).status, 200, 'it can be read')
  assert.equal((await app.inject('/api/users?after=1000')).status, 200)
  rmSync(join(disk, 'filler'))
  assert.equal((await add(app)).status, 201)
  await app.close({ drainIdle: 0 })
})

test('a service that finds no room at its start names the database', { skip: unmountable }, () => {
  const file = join(disk, 'second.db')
  writeFileSync(join(disk, 'filler'), '')
  try {
    writeFileSync(join(disk, 'filler'), Buffer.alloc(2 ** 20))
  } catch {
    // It is as large as there is room.
  }
  assert.throws(
    () => openSqlite(file),
    (error) => (error as Error).message.includes(file) && !/rollback/.test((error as Error).message),
  )
})

/** No page more than there are. */
function limit(db: { exec(sql: string): void }): void {
  db.exec('PRAGMA max_page_count = 1')
}

let next = 0

function add(app: App) {
  next += 1
  const body = { name: 'x'.repeat(100), email: `${next}@example.com`, age: 30 }
  return app.inject({ method: 'POST', url: '/api/users', body })
}

/** How many users were stored until the disk was full. */
async function fill(app: App, reports: unknown[]): Promise<number> {
  for (let stored = 0; stored < 10_000; stored++) {
    const reply = await add(app)
    if (reply.status === 201) continue
    assert.equal(reply.status, 507)
    assert.match(String(reply.headers['content-type']), /^application\/problem\+json/)
    const { code, detail } = reply.json() as { code: string; detail: string }
    assert.deepEqual(
      { code, detail },
      { code: 'DISK_FULL', detail: 'Nothing was stored: the disk of the service is full' },
    )
    assert.deepEqual(
      reports.map((error) => (error as Error).message),
      ['database or disk is full'],
    )
    return stored
  }
  throw new Error('the disk was never full')
}

function mount(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false
  mkdirSync(disk)
  return spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=512k', 'tmpfs', disk]).status === 0
}
