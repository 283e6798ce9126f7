/** With NODE_ENV=production there is no default token, and figures and documents of the service are not public. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { UsageError } from '../src/command-line.ts'
import { defaultDatabase } from '../src/profiles.ts'
import { reference } from '../src/profiles/reference.ts'
import { settingsOf } from '../src/settings.ts'

const folder = mkdtempSync(join(tmpdir(), 'production-'))
after(() => rmSync(folder, { recursive: true }))

const server = fileURLToPath(new URL('../src/server.js', import.meta.url))
const production = { NODE_ENV: 'production', API_TOKEN: 'secret' }
/** A busy machine refuses no request in these tests. */
const settings = { database: join(folder, 'a.db'), token: 'secret', maxEventLoopDelay: 9_999 }

const figures = ['/metrics', '/metrics.json', '/api/health', '/debug/memory']
/** Programs send the token, people enter it as the password of admin. */
const challenges = 'Bearer, Basic realm="reference service", charset="UTF-8"'
const docs = [
  '/',
  '/page/live.js',
  '/docs',
  '/docs/reference.js',
  '/openapi.json',
  '/openapi.yaml',
  '/client.json',
]
const open = ['/health', '/ready', '/json', '/badge/build/passing.svg', '/api/users']

test('settings in development, in production, and with empty variables', () => {
  const inDevelopment = {
    database: defaultDatabase('reference'),
    token: 'valid-token',
    publicFigures: true,
    publicDocs: true,
    canRestart: true,
  }
  assert.deepEqual(settingsOf('reference', {}), inDevelopment)
  const empty = { API_TOKEN: '', DATABASE: '', PUBLIC_DOCS: '', NODE_ENV: '' }
  assert.deepEqual(settingsOf('reference', empty), inDevelopment)
  assert.equal(settingsOf('reference', { PUBLIC_DOCS: '0' }).publicDocs, false)

  const inProduction = {
    ...inDevelopment,
    token: 'secret',
    publicFigures: false,
    publicDocs: false,
    canRestart: false,
  }
  assert.deepEqual(settingsOf('reference', production), inProduction)
  assert.deepEqual(settingsOf('reference', { ...production, PUBLIC_DOCS: '1' }), {
    ...inProduction,
    publicDocs: true,
  })
  assert.deepEqual(settingsOf('reference', { HOSTS: 'api.example,localhost' }).hosts, [
    'api.example',
    'localhost',
  ])
  assert.equal(settingsOf('nessen', { RATE_LIMIT: '100' }).rateLimit, 100)
  for (const RATE_LIMIT of ['0', '1e3', '-1', '60000001'])
    assert.throws(() => settingsOf('nessen', { RATE_LIMIT }), UsageError)
  assert.equal(settingsOf('reference', { MAX_DELAY: '1000' }).maxEventLoopDelay, 1_000)
  for (const MAX_DELAY of ['0', '1.5', '10000'])
    assert.throws(() => settingsOf('reference', { MAX_DELAY }), UsageError)
  assert.throws(() => settingsOf('reference', { PUBLIC_DOCS: 'yes' }), {
    message: 'PUBLIC_DOCS is 1 or 0, not "yes"',
  })
})

test('production without API_TOKEN is refused for the profiles that have a token', () => {
  for (const env of [{ NODE_ENV: 'production' }, { NODE_ENV: 'production', API_TOKEN: '' }]) {
    for (const profile of ['reference', 'veloxts'] as const)
      assert.throws(() => settingsOf(profile, env), UsageError)
    assert.ok(settingsOf('zapjs', env))
  }
})

for (const publicDocs of [false, true]) {
  test(`what is asked for the token, with docs ${publicDocs ? 'public' : 'not public'}`, async () => {
    const app = reference({ signals: false }, { ...settings, publicDocs })
    const headers = { authorization: 'Bearer secret' }
    const guarded = ['/live', ...figures, ...(publicDocs ? [] : docs)]
    for (const path of [...open, ...(publicDocs ? docs : [])])
      assert.equal((await app.inject(path)).status, 200, path)
    for (const path of guarded) {
      for (const method of ['GET', 'HEAD']) {
        const reply = await app.inject({ method, url: path })
        assert.equal(reply.status, 401, `${method} ${path}`)
        assert.equal(reply.headers['www-authenticate'], challenges)
      }
      assert.equal((await app.inject({ url: path, headers })).status, 200, path)
    }
    // Other ways to write a path that is guarded.
    for (const path of guarded.filter((each) => each !== '/')) {
      const first = `%${path.charCodeAt(1).toString(16)}`
      for (const url of [`${path}/`, `/${first}${path.slice(2)}`, path.toUpperCase(), `/${path}`])
        assert.notEqual((await app.inject(url)).status, 200, url)
    }
    await app.close({ drainIdle: 0 })
  })
}

test('people have the token as a password, and other names of the service are refused', async () => {
  const app = reference({ signals: false }, { ...settings, hosts: ['api.example'] })
  const ask = async (url: string, headers: Record<string, string>) =>
    (await app.inject({ url, headers: { host: 'api.example', ...headers } })).status
  const password = `Basic ${Buffer.from('admin:secret').toString('base64')}`
  for (const url of ['/docs', '/debug/runtime', '/metrics']) {
    assert.equal(await ask(url, {}), 401)
    assert.equal(await ask(url, { authorization: password }), 200)
    assert.equal(await ask(url, { authorization: password, host: 'evil.example' }), 421)
  }
  assert.equal(await ask('/ready', { host: '10.0.0.7' }), 200)
  await app.close({ drainIdle: 0 })
})

test('the document says which routes take the token', async () => {
  const app = reference({ signals: false }, settings)
  const headers = { authorization: 'Bearer secret' }
  const { paths } = (await app.inject({ url: '/openapi.json', headers })).json() as {
    paths: Record<string, { get: { security?: unknown; responses: Record<string, unknown> } }>
  }
  for (const path of figures) {
    assert.deepEqual(paths[path]?.get.security, [{ bearer: [] }, { basic: [] }], path)
    assert.ok(paths[path]?.get.responses['401'], path)
  }
  assert.equal(paths['/health']?.get.security, undefined)
  await app.close({ drainIdle: 0 })
})

test('the page without figures asks nothing of its own accord, and each of its buttons leads to a reply', async () => {
  const app = reference({ signals: false }, { ...settings, publicDocs: true })
  const html = (await app.inject('/')).body.toString()
  assert.doesNotMatch(html, /Right now|id="now"/)
  const buttons = [...html.matchAll(/data-method="GET" data-path="([^"]*)"( data-secured)?/g)]
  assert.ok(buttons.length > 8)
  for (const [, url = '', secured] of buttons) {
    const headers = { authorization: 'Bearer secret' }
    assert.equal((await app.inject(url)).status, secured ? 401 : 200, url)
    assert.equal((await app.inject({ url, headers })).status, 200, url)
  }
  await app.close({ drainIdle: 0 })
})

test(
  'npm start in production: one line and 2 without API_TOKEN, else it serves',
  { timeout: 120_000 },
  async () => {
    const { API_TOKEN: _, ...rest } = process.env
    const env = {
      ...rest,
      NODE_ENV: 'production',
      DATABASE: join(folder, 'b.db'),
      PORT: '0',
      HOST: '127.0.0.1',
      MAX_DELAY: '9999',
    }
    const refused = spawnSync(process.execPath, [server], { env, encoding: 'utf8' })
    assert.equal(refused.status, 2)
    assert.equal(refused.stdout, '')
    assert.match(
      refused.stderr,
      /^API_TOKEN is not set, and with NODE_ENV=production it has no default: [^\n]+\n$/,
    )

    const child = spawn(process.execPath, [server], {
      env: { ...env, API_TOKEN: 'secret' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    try {
      const [line] = await once(createInterface(child.stdout), 'line')
      const url = /http:\/\/\S+/.exec(line)?.[0] as string
      // A connection that is idle would stay for 5 s when the service ends.
      const status = async (path: string) =>
        (await fetch(url + path, { headers: { connection: 'close' } })).status
      assert.deepEqual(
        [await status('/ready'), await status('/metrics'), await status('/docs')],
        [200, 401, 401],
      )
    } finally {
      child.kill()
      await once(child, 'exit')
    }
  },
)
