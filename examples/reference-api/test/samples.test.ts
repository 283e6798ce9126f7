/** Every sample of the RamAPI document compiles and does what the document says, on each adapter. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { eventually, freePort } from '@volant/test-kit'
import { type AdapterType, createApp } from 'volant'
import { openSqlite } from '../src/sqlite.ts'

const require = createRequire(import.meta.url)
const page = readFileSync(new URL('../../test/fixtures/ramapi-samples.md', import.meta.url), 'utf8')
const samples = [...page.matchAll(/^## (.+)\n\n```ts ramapi\n([^]*?)```$/gm)].map(([, title, code]) => ({
  title: title as string,
  code: code as string,
}))

// Inside the package, so that the samples find its dependencies.
const folder = fileURLToPath(new URL('../samples/', import.meta.url))
const scratch = mkdtempSync(join(tmpdir(), 'samples-'))
const adapters: AdapterType[] = ['uwebsockets', 'native', 'node-http']

type Ask = (path: string, init?: RequestInit) => Promise<Response>

/** What the document says of each sample. */
const expected: Record<string, (ask: Ask) => Promise<void>> = {
  async 'Simple JSON Response'(ask) {
    const reply = await ask('/json')
    assert.equal(reply.status, 200)
    assert.equal(await reply.text(), '{"message":"Hello World"}')
  },

  async 'With Middleware Stack'(ask) {
    const reply = await ask('/api/users', { headers: { origin: 'https://app.example' } })
    assert.equal(reply.headers.get('access-control-allow-origin'), '*')
    const { requestId, users } = (await reply.json()) as { requestId: string; users: unknown }
    assert.match(requestId, /^0\./)
    assert.deepEqual(users, [
      { id: 1, name: 'Alice' },
      { id: 2, name: 'Bob' },
    ])
  },

  async 'Real-World Application'(ask) {
    const headers = { authorization: 'Bearer valid-token' }
    const found = await ask('/api/users/123', { headers })
    assert.equal(found.status, 200)
    const { user } = (await found.json()) as { user: { id: number; name: string } }
    assert.deepEqual([user.id, user.name], [123, 'User 123'])
    assert.equal((await ask('/api/users/123')).status, 401)
    assert.equal((await ask('/api/users/abc', { headers })).status, 400)
    assert.equal((await ask('/api/users/99999', { headers })).status, 404)
  },

  async 'Database Operations'(ask) {
    const alice = { name: 'Alice', email: 'alice@example.com', age: 25 }
    const post = (body: unknown) =>
      ask('/api/users', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    const created = await post(alice)
    assert.equal(created.status, 201)
    const { user } = (await created.json()) as { user: { id: number } }
    assert.deepEqual(user, { id: user.id, ...alice })
    const again = await post(alice)
    assert.equal(again.status, 409)
    assert.deepEqual(await again.json(), { error: 'Email already exists' })
    assert.equal((await post({ ...alice, age: '25' })).status, 400)
  },

  async 'Custom Benchmark'(ask) {
    assert.deepEqual(await (await ask('/custom')).json(), { result: 'data' })
  },
}

before(() => {
  assert.deepEqual(
    samples.map(({ title }) => title),
    Object.keys(expected),
  )
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const [index, { code }] of samples.entries()) {
    for (const adapter of adapters)
      writeFileSync(join(folder, `${index}-${adapter}.ts`), adapted(code, adapter))
  }
  const compilerOptions = {
    strict: true,
    target: 'es2023',
    module: 'nodenext',
    moduleDetection: 'force',
    types: ['node'],
    skipLibCheck: true,
    noEmitOnError: true,
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
  const compiler = require.resolve('typescript/package.json').replace('package.json', 'bin/tsc')
  const { status, stdout } = spawnSync(process.execPath, [compiler, '-p', folder], { encoding: 'utf8' })
  assert.equal(status, 0, stdout)
})

after(() => {
  rmSync(folder, { recursive: true })
  rmSync(scratch, { recursive: true })
})

for (const adapter of adapters) {
  describe(`RamAPI's samples on ${adapter}`, () => {
    for (const [index, { title, code }] of samples.entries()) {
      test(title, { skip: missing(code, adapter), timeout: 120_000 }, async () => {
        const database = join(scratch, `${index}-${adapter}.db`)
        openSqlite(database).db.close()
        const port = await freePort()
        const env = { ...process.env, PORT: String(port), DATABASE: database }
        const child = spawn(process.execPath, [join(folder, `${index}-${adapter}.js`)], {
          env,
          stdio: ['ignore', 'ignore', 'inherit'],
        })
        try {
          // A connection that is idle would stay for 5 s when the sample ends.
          const ask: Ask = (path, init) =>
            fetch(`http://127.0.0.1:${port}${path}`, {
              ...init,
              headers: { connection: 'close', ...(init?.headers as Record<string, string>) },
            })
          await listening(child, ask)
          await (expected[title] as (ask: Ask) => Promise<void>)(ask)
        } finally {
          if (child.exitCode === null && child.kill()) await once(child, 'exit')
        }
      })
    }
  })
}

/** The three things that differ, and the import the document forgot. */
function adapted(code: string, adapter: AdapterType): string {
  const named = code.replace("'ramapi'", "'volant'").replace("type: 'uwebsockets'", `type: '${adapter}'`)
  const placed = named
    .replace('app.listen(3000)', 'app.listen(Number(process.env.PORT))')
    .replace("'benchmark.db'", 'process.env.DATABASE')
  return placed.includes('ctx: Context')
    ? placed.replace('import { createApp,', 'import { type Context, createApp,')
    : placed
}

/** Why the sample cannot run here, or false. */
function missing(code: string, adapter: AdapterType): string | false {
  try {
    createApp({ adapter: { type: adapter } })
    if (code.includes('better-sqlite3')) new (require('better-sqlite3'))(':memory:').close()
    return false
  } catch (error) {
    return (error as Error).message
  }
}

async function listening(child: ChildProcess, ask: Ask): Promise<void> {
  const answers = (): Promise<boolean> =>
    ask('/').then(
      (reply) => reply.body?.cancel().then(() => true) ?? true,
      () => false,
    )
  await eventually(async () => child.exitCode !== null || (await answers()), 'the sample answers')
  if (child.exitCode !== null) throw new Error(`the sample ended with ${child.exitCode}`)
}
