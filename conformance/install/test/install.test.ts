/**
 * What `npm run pack` writes, installed into an empty folder as a newcomer would: apps of every kind that Node.js and
 * TypeScript know answer there over a socket. Needs the registry, for what the packages depend on.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { get, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { eventually } from '@volant/test-kit'
import { WebSocket } from 'ws'

const root = fileURLToPath(new URL('../../../..', import.meta.url))
/** What the apps use besides. */
const libraries = ['@types/node@26.6.6', '@types/ws@8.18.2', 'zod@4.6.7']
/** npm may have to fetch what the packages depend on. */
const timeout = 300_000

let folder: string
/** The installed package of this platform's binary; null where it could not be built. */
let binary: string | null

before(
  async () => {
    folder = await mkdtemp(join(tmpdir(), 'volant-install-'))
    const tarballs = join(folder, 'tarballs')
    await succeed(process.execPath, [join(root, 'scripts/pack.mjs'), '--out', tarballs], root)
    await cp(join(root, 'conformance/install/apps'), folder, { recursive: true })
    await cp(join(folder, 'typed-batteries.mts'), join(folder, 'typed-batteries.cts'))
    await mkdir(join(folder, 'node_modules'))
    const files = (await readdir(tarballs)).map((name) => `./tarballs/${name}`)
    const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', folder]
    await succeed('npm', [...args, ...files, ...libraries], folder)
    const platform = (await readdir(join(folder, 'node_modules/@volant'))).find((name) =>
      name.startsWith('engine-'),
    )
    binary = platform === undefined ? null : join(folder, 'node_modules/@volant', platform)
  },
  { timeout },
)

after(() => rm(folder, { recursive: true, force: true }))

test('every dependency is there, in a version that fits', async () => {
  await succeed('npm', ['ls', '--all', '--prefix', folder], folder)
})

test('TypeScript accepts ESM and CommonJS apps under nodenext, the types of all libraries included', async () => {
  await succeed(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', '.'], folder)
})

for (const file of ['esm.mjs', 'commonjs.cjs', 'typed-esm.mjs', 'typed-commonjs.cjs']) {
  test(`${file} runs on the native engine and prints no warning`, async (t) => {
    if (binary === null) return t.skip('the engine is not built here')
    assert.deepEqual(await serve(file), { adapter: 'native', stderr: '' })
  })
}

test('importing volant loads nothing that only some apps need', async () => {
  const printed = await succeed(process.execPath, ['loaded.mjs'], folder)
  const files = printed.trimEnd().split('\n')
  assert.deepEqual(files.map((url) => url.replace(/^.*\/node_modules\//, '')).sort(), [
    '@volant/engine/dist/src/index.js',
    'cookie/dist/index.js',
    'leven/index.js',
    'volant/dist/src/index.js',
  ])
})

for (const file of ['typed-batteries.mjs', 'typed-batteries.cjs']) {
  test(`compression, folders, forms, limits, protection and connect middleware in ${file}`, async () => {
    await serve(file, async (url) => {
      const page = await fetch(`${url}/files/tsconfig.json`, { headers: { 'accept-encoding': 'gzip' } })
      assert.equal(await page.text(), await readFile(join(folder, 'page/tsconfig.json'), 'utf8'))
      const names = ['content-encoding', 'cache-control', 'x-seen']
      const fields = names.map((name) => page.headers.get(name))
      assert.deepEqual(fields, ['gzip', 'public, max-age=60', '/files/tsconfig.json'])

      const timed = await fetch(`${url}/timed`)
      assert.equal(timed.headers.get('cache-control'), 'max-age=60')
      assert.match(timed.headers.get('server-timing') ?? '', /^work;dur=[\d.]+, total;dur=[\d.]+$/)

      const form = new FormData()
      form.set('title', 'Emma')
      form.set('cover', new File(['abc'], 'cover.png'))
      const send = (path: string) => fetch(url + path, { method: 'POST', body: form })
      assert.deepEqual(await (await send('/form')).json(), { title: 'Emma', cover: 3 })
      assert.equal((await send('/form')).status, 429)
      assert.deepEqual(await (await send('/parts')).json(), { title: 4, cover: 3 })
    })
  })
}

test('WebSockets, a bus, and the server for libraries written for ws come with it', async (t) => {
  if (binary === null) return t.skip('the engine is not built here')
  await serve('typed-sockets.mjs', async (url) => {
    const open = async (path: string) => {
      const socket = new WebSocket(url.replace('http', 'ws') + path)
      await once(socket, 'open')
      return socket
    }
    const messageOf = async (socket: WebSocket) => String((await once(socket, 'message'))[0])
    const [log, room, library] = [await open('/log'), await open('/rooms/lobby'), await open('/library')]
    const messages = Promise.all([log, room, library].map(messageOf))
    room.send('hello')
    library.send('hello')
    assert.deepEqual(await messages, ['bus: all: hello', 'all: hello', 'ada at /library: hello'])
  })
})

test('volant start runs an app in two processes', async (t) => {
  if (binary === null) return t.skip('the engine is not built here')
  const control = join(folder, 'control.sock')
  const command = ['node_modules/volant/dist/src/bin.js', 'start', '--workers', '2', '--control', control]
  const health = async () => {
    let status: number | undefined
    // The supervisor opens it beside the workers.
    await eventually(async () => {
      const request = get({ socketPath: control, path: '/health' })
      const answer = await once(request, 'response').catch((error: NodeJS.ErrnoException) => {
        if (!['ENOENT', 'ECONNREFUSED'].includes(error.code ?? '')) throw error
      })
      if (answer === undefined) return false
      const [reply] = answer as [IncomingMessage]
      reply.resume()
      status = reply.statusCode
      return true
    }, 'the supervisor answers')
    assert.equal(status, 200)
  }
  assert.deepEqual(await serve('esm.mjs', health, command), { adapter: 'native', stderr: '' })
})

test('log lines of its workers say which one writes them', async (t) => {
  if (binary === null) return t.skip('the engine is not built here')
  const module = join(folder, 'logged.mjs')
  const code = `import { createApp } from 'volant'
    const app = createApp()
    app.log.info('hello')
    await app.listen(0, '127.0.0.1')`
  await writeFile(module, code)
  const bin = 'node_modules/volant/dist/src/bin.js'
  const child = spawn(process.execPath, [bin, 'start', 'logged.mjs', '--workers', '2'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const workers = new Set<unknown>()
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith('{')) workers.add((JSON.parse(line) as { worker: unknown }).worker)
    if (workers.size === 2 && !child.killed) child.kill('SIGTERM')
  }
  assert.deepEqual(
    [[...workers].toSorted(), await ended],
    [
      [0, 1],
      [0, null],
    ],
  )
})

test('the document and its page come with it', async () => {
  await serve('documented.mjs', async (url) => {
    const yaml = await fetch(`${url}/openapi.yaml`)
    assert.match(await yaml.text(), /^openapi: 3\.1\.\d\n/)
    const [page, bundle] = [await fetch(`${url}/docs`), await fetch(`${url}/docs/reference.js`)]
    assert.match(await page.text(), /<script src="docs\/reference\.js">/)
    assert.ok((await bundle.text()).length > 1e6)
  })
})

test('procedures share the framework with the app that serves them', async () => {
  await serve('procedures.mjs', async (url) => {
    const input = encodeURIComponent(JSON.stringify({ name: 'nobody' }))
    for (const path of ['/hello/nobody', `/trpc/getHello?input=${input}`]) {
      const reply = await fetch(url + path)
      assert.equal(reply.status, 404)
      assert.match(await reply.text(), /nobody is there/)
    }
  })
})

test('without the binary it runs on node:http, and one line says why', async () => {
  const away = `${binary}-away`
  if (binary !== null) await rename(binary, away)
  const { adapter, stderr } = await serve('esm.mjs')
  if (binary !== null) await rename(away, binary)
  assert.equal(adapter, 'node-http')
  assert.match(
    stderr,
    /^volant: running on node:http, because [^\n]*@volant\/engine-[^\n]* is not installed: npm install @volant\/engine-[^ ]*@\d[^ ]*, or install without --omit=optional\n$/,
  )
})

test('a binary of another version is not loaded, and one line says so', async (t) => {
  if (binary === null) return t.skip('the engine is not built here')
  const { adapter, stderr } = await edited(
    join(binary, 'package.json'),
    /"version": "[^"]+"/,
    '"version": "0.0.1"',
  )
  assert.equal(adapter, 'node-http')
  assert.match(stderr, /^volant: running on node:http, because [^\n]* is version 0\.0\.1, but [^\n]*\n$/)
})

test('a binary of another memory layout is not used, and one line says so', async (t) => {
  if (binary === null) return t.skip('the engine is not built here')
  const layout = join(folder, 'node_modules/@volant/engine/dist/src/index.js')
  const { adapter, stderr } = await edited(layout, /layoutHash = \d+/, 'layoutHash = 1')
  assert.equal(adapter, 'node-http')
  assert.match(stderr, /^volant: running on node:http, because [^\n]* built from other sources [^\n]*\n$/)
})

test('the client answers from the package, and its types need no others', async () => {
  const printed = await succeed(process.execPath, ['client.mjs'], folder)
  assert.equal(printed, '200 Ada\n404 NOBODY\n')
  await succeed(
    'npm',
    ['exec', '--offline', '--', 'volant', 'types', 'client.mjs', '--out', 'page/api.ts'],
    folder,
  )
  await succeed(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'page'], folder)
})

/** Serves with one installed file changed, and restores it. */
async function edited(path: string, from: RegExp, to: string) {
  const original = await readFile(path, 'utf8')
  assert.match(original, from)
  await writeFile(path, original.replace(from, to))
  try {
    return await serve('esm.mjs')
  } finally {
    await writeFile(path, original)
  }
}

/** Starts an app, asks it once, ends it; every app prints its adapter and where it listens. */
async function serve(
  file: string,
  more: (url: string) => Promise<void> = async () => {},
  command: readonly string[] = [],
): Promise<{ adapter: string; stderr: string }> {
  const child = spawn(process.execPath, [...command, file], { cwd: folder, env: environment() })
  try {
    const stderr = text(child.stderr)
    const line = await Promise.race([firstLine(child), stderr.then((words) => assert.fail(words))])
    const [adapter, url] = line.split(' ') as [string, string]
    const reply = await fetch(`${url}/hello/Ada`)
    assert.equal(reply.status, 200)
    assert.deepEqual(await reply.json(), { hello: 'Ada' })
    await more(url)
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    assert.deepEqual(await ended, [0, null])
    return { adapter, stderr: await stderr }
  } finally {
    child.kill('SIGKILL')
  }
}

async function firstLine(child: ChildProcess): Promise<string> {
  const [line] = await once(createInterface(child.stdout!), 'line')
  return line as string
}

/** Runs a command to its end; gives what it printed, and fails with it. */
async function succeed(command: string, args: string[], cwd: string): Promise<string> {
  const child = spawn(command, args, { cwd, env: environment() })
  const printed = Promise.all([text(child.stdout), text(child.stderr)])
  const [code] = await once(child, 'exit')
  const [stdout, stderr] = await printed
  assert.equal(code, 0, stdout + stderr)
  return stdout
}

/** Without what `npm test` and `node --test` leave in it: a newcomer's shell has none of it. */
function environment(): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _, NODE_TEST_CONTEXT: _context, VOLANT_ENGINE: _engine, ...rest } = process.env
  for (const name of Object.keys(rest))
    if (/^npm_(?:package|lifecycle|config_(?:local_prefix|workspaces?$))/.test(name)) delete rest[name]
  return rest
}
