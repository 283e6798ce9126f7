/** The client's bundle where it says it runs: in Node.js, and in Bun, Deno and Chromium where they are installed. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild-wasm'
import * as z from 'zod'
import { createApp } from '../../src/index.ts'

/** What each runtime does with the client: it tells the server what came of it. */
async function program(
  { connect, createClient, ClientError }: Record<string, any>,
  url: string,
  isPage: boolean,
): Promise<void> {
  const seen: Record<string, unknown> = {}
  const failed = (promise: Promise<unknown>) => promise.then(String, (error: unknown) => error as any)
  try {
    const client = createClient(url, { headers: { 'x-key': 'k' }, retry: { count: 1, delay: 1 } })
    const user = await client.users.get({ params: { id: 'ä/1' }, query: { tags: ['a', 'b'] } })
    seen.user = [user.ok, user.status, user.data]
    const gone = await client.users.get({ params: { id: 'gone' } })
    seen.gone = [gone.ok, gone.code, gone.detail]
    const invalid = await client.users.add({ body: {} })
    seen.invalid = [invalid.status, invalid.issues[0].pointer]
    const added = await client.users.add({ body: { name: 'Ada' } })
    seen.added = [added.status, added.data]
    const form = new FormData()
    form.set('name', 'Ada')
    seen.form = (await client.form({ body: form })).data
    seen.bytes = (await client.size({ body: new Uint8Array(70_000) })).data
    if (!isPage) seen.upload = (await client.size({ body: new Blob(['text']).stream() })).data
    seen.none = (await client.none()).data === undefined
    seen.text = (await client.text()).data
    seen.busy = (await client.busy()).data

    const controller = new AbortController()
    const { data } = await client.count({}, { signal: controller.signal, timeout: 60_000 })
    seen.stream = await new Response(data).text()
    const reason = new Error('enough')
    const endless = (await client.endless({}, { signal: controller.signal })).data.getReader()
    await endless.read()
    const rest = failed(
      (async () => {
        while (!(await endless.read()).done);
      })(),
    )
    controller.abort(reason)
    seen.aborted = (await rest) === reason
    seen.late = (await failed(client.slow({}, { timeout: 50 }))).message

    if ('WebSocket' in globalThis) {
      const socket = connect(client.echo, { query: { n: 1 } }, { protocols: ['v1'] })
      socket.send({ text: 'ä' })
      for await (const message of socket) {
        seen.socket = [message, socket.protocol]
        break
      }
      socket.close(4000, 'bye')
      const { code, opened, final } = await socket.closed
      seen.ended = [code, opened, final]
    }

    const away = await failed(client.away())
    seen.away = [away instanceof ClientError, away.status]
    const found = await failed(client.found())
    seen.found = [found instanceof ClientError, found.status]
    seen.lost = (
      await failed(createClient('http://127.0.0.1:1', { routes: { a: ['GET', '/a'] } }).a())
    ).status
  } catch (error) {
    seen.error = String((error as Error).stack)
  }
  await fetch(`${url}/report`, { method: 'POST', body: JSON.stringify(seen) })
}

const expected = {
  user: [true, 200, { id: 'ä/1', key: 'k', tags: ['a', 'b'] }],
  gone: [false, 'GONE', 'It was there'],
  invalid: [400, '#/name'],
  added: [201, { name: 'Ada' }],
  form: 'Ada',
  bytes: 70_000,
  upload: 4,
  none: true,
  text: 'text',
  busy: 'done',
  stream: '012',
  aborted: true,
  late: 'slow: no reply within 50 ms',
  socket: [{ text: '1 ä' }, 'v1'],
  ended: [4000, true, true],
  away: [true, 302],
  found: [false, undefined],
  lost: 0,
}

let report: (seen: unknown) => void = () => {}
let bundle = ''
let url = ''
let folder = ''
const app = createApp({ signals: false })
let refusals = 0
const User = z.object({ id: z.string(), key: z.string(), tags: z.array(z.string()) })
app.expose({
  users: {
    get: app.get(
      '/users/:id',
      { response: User, errors: { GONE: { status: 410, description: 'It was there' } } },
      (ctx) => {
        if (ctx.params.id === 'gone') throw ctx.fail('GONE')
        return {
          id: ctx.params.id,
          key: String(ctx.headers['x-key']),
          tags: [ctx.query['tags'] ?? []].flat(),
        }
      },
    ),
    add: app.post(
      '/users',
      { body: z.object({ name: z.string() }), response: { 201: z.object({ name: z.string() }) } },
      (ctx) => ctx.reply(201, ctx.body),
    ),
  },
  form: app.post('/form', async (ctx) => (await ctx.request.formData()).get('name')),
  size: app.post('/size', async (ctx) => (await ctx.request.arrayBuffer()).byteLength),
  none: app.put('/none', { response: { 204: null } }, (ctx) => ctx.reply(204)),
  text: app.get('/text', { response: z.string() }, () => 'text'),
  busy: app.get('/busy', (ctx) => {
    if (refusals++ % 2 === 0) return ctx.reply(503)
    return 'done'
  }),
  count: app.get('/count', function* () {
    yield* ['0', '1', '2']
  }),
  endless: app.get('/endless', async function* (ctx) {
    yield 'x'
    await once(ctx.signal, 'abort')
  }),
  slow: app.get('/slow', (ctx) => new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))),
  echo: app.ws('/echo', {
    protocols: ['v1'],
    in: z.object({ text: z.string() }),
    out: z.object({ text: z.string() }),
    upgrade: (ctx) => ({ n: ctx.query['n'] }),
    message: (ws, { text }) => void ws.send({ text: `${String(ws.data.n)} ${text}` }),
  }),
  away: app.get('/away', (ctx) => ctx.redirect('/text')),
  found: app.get('/found', { response: { 302: null } }, (ctx) => ctx.redirect('/text')),
})
app.get('/client.js', { mediaType: 'text/javascript' }, () => bundle)
app.get(
  '/page',
  { mediaType: 'text/html; charset=utf-8' },
  () => `<script type="module">${script('/client.js', true)}</script>`,
)
app.post('/report', async (ctx) => report(JSON.parse(await ctx.request.text())))

const script = (entry: string, isPage: boolean): string =>
  `import * as client from ${JSON.stringify(entry)}\n;(${program})(client, ${JSON.stringify(url)}, ${isPage})`

before(async () => {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('../../src/client/index.js', import.meta.url))],
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    write: false,
    logLevel: 'silent',
  })
  bundle = outputFiles[0]?.text ?? ''
  ;({ url } = await app.listen(0))
  folder = mkdtempSync(join(tmpdir(), 'volant-client-'))
  writeFileSync(join(folder, 'client.mjs'), bundle)
  writeFileSync(join(folder, 'program.mjs'), script(pathToFileURL(join(folder, 'client.mjs')).href, false))
})

after(async () => {
  await app.close()
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
})

interface Runtime {
  /** Commands that are it. */
  readonly names: readonly string[]
  readonly args: () => readonly string[]
  readonly expected?: object
}

/** Where `npm run lab` brings one. */
const labBun = fileURLToPath(
  new URL(
    `../../../../../lab/entries/bun/node_modules/@oven/bun-${process.platform}-${process.arch.replace('arm64', 'aarch64')}/bin/bun`,
    import.meta.url,
  ),
)
const runtimes: Record<string, Runtime> = {
  'Node.js': {
    names: [process.execPath],
    args: () => [join(folder, 'program.mjs')],
    ...('WebSocket' in globalThis ? {} : { expected: { socket: undefined, ended: undefined } }),
  },
  Bun: { names: ['bun', labBun], args: () => [join(folder, 'program.mjs')] },
  Deno: {
    names: ['deno'],
    args: () => [
      'run',
      '--no-prompt',
      '--no-config',
      '--allow-net',
      `--allow-read=${folder}`,
      join(folder, 'program.mjs'),
    ],
  },
  Chromium: {
    names: ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'],
    args: () => [
      '--headless',
      '--no-sandbox',
      '--no-first-run',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      `--user-data-dir=${join(folder, 'chromium')}`,
      `${url}/page`,
    ],
    // Uploads are streamed over HTTP/2 only; of redirects a page learns nothing.
    expected: { upload: undefined, away: [true, 0], found: [true, 0] },
  },
}

for (const [name, runtime] of Object.entries(runtimes)) {
  const command = runtime.names.map(found).find((path) => path !== undefined)
  const skip = command === undefined && `${name} is not installed`
  test(`the client runs in ${name}`, { skip, timeout: 300_000 }, async () => {
    const child = spawn(command as string, runtime.args(), {
      stdio: ['ignore', 'ignore', 'pipe'],
      detached: true,
    })
    let words = ''
    child.stderr.on('data', (chunk: Buffer) => void (words += chunk.toString()))
    const over = new Promise((resolve) => child.once('close', resolve))
    try {
      const seen = await new Promise((resolve, reject) => {
        report = resolve
        child.once('error', reject)
        void over.then((code) => reject(new Error(`${command} ended with ${String(code)}: ${words}`)))
      })
      const wanted = { ...expected, ...runtime.expected }
      assert.deepEqual(seen, JSON.parse(JSON.stringify(wanted)))
    } finally {
      if (child.exitCode === null && child.pid !== undefined) {
        // A browser is several processes.
        try {
          process.kill(-child.pid, 'SIGKILL')
        } catch {
          child.kill('SIGKILL')
        }
      }
      await over
    }
  })
}

function found(command: string): string | undefined {
  const folders =
    command.includes('/') || command.includes('\\') ? [''] : (process.env.PATH ?? '').split(delimiter)
  return folders
    .map((each) => join(each, command))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK)
        return true
      } catch {
        return false
      }
    })
}
