/** Asks the compiler's own language server what an editor shows. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = fileURLToPath(new URL('../../../..', import.meta.url))

/** Asked at each `‹`. */
const source = `import { before, createApp } from 'volant'
const app = createApp()
interface User { id: number }
const user = before<{ user: User }>((ctx) => void (ctx.state.user = { id: 1 }))
const same = before<{ user: User; at: Date }>((ctx) => void (ctx.state.at = new Date()))
app.‹get('/a', () => 1)
app.‹post('/b', { maxBodySize: 10 }, () => 1)
app.‹put('/c', user, same, () => 1)
app.‹on(['GET'], '/d', () => 1)
app.‹on(['PUT'], '/e', user, () => 1)
app.‹use(user)
app.with(user).with(same).get('/f', (ctx) => { const ‹state = ctx.state; return state.at })
`

/** JSON-RPC as the Language Server Protocol frames it. */
class Server {
  readonly #child = spawn(
    process.execPath,
    [join(root, 'node_modules/typescript/bin/tsc'), '--lsp', '--stdio'],
    {
      stdio: ['pipe', 'pipe', 'ignore'],
    },
  )
  readonly #waiting = new Map<number, (result: unknown) => void>()
  #bytes: Buffer = Buffer.alloc(0)
  #last = 0

  constructor() {
    this.#child.stdout.on('data', (chunk: Buffer) => this.#read(Buffer.concat([this.#bytes, chunk])))
  }

  ask(method: string, params: unknown): Promise<unknown> {
    const id = ++this.#last
    this.#send({ id, method, params })
    return new Promise((resolve) => this.#waiting.set(id, resolve))
  }

  tell(method: string, params: unknown): void {
    this.#send({ method, params })
  }

  end(): void {
    this.#child.kill()
  }

  #send(message: object): void {
    const text = JSON.stringify({ jsonrpc: '2.0', ...message })
    this.#child.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`)
  }

  #read(bytes: Buffer): void {
    const end = bytes.indexOf('\r\n\r\n')
    const length = Number(/Content-Length: (\d+)/i.exec(bytes.toString('latin1', 0, end))?.[1])
    if (end < 0 || bytes.length < end + 4 + length) {
      this.#bytes = bytes
      return
    }
    const message = JSON.parse(bytes.toString('utf8', end + 4, end + 4 + length)) as {
      id?: number
      method?: string
      result?: unknown
    }
    if (message.method === undefined) this.#waiting.get(message.id as number)?.(message.result)
    // It asks for settings; there are none.
    else if (message.id !== undefined) this.#send({ id: message.id, result: null })
    this.#read(bytes.subarray(end + 4 + length))
  }
}

const server = new Server()
mkdirSync(join(root, '.cache'), { recursive: true })
const folder = mkdtempSync(join(root, '.cache/hover-'))
after(() => {
  server.end()
  rmSync(folder, { recursive: true })
})

test(
  'an editor shows what a call does, its arguments, and state as one type',
  { timeout: 300_000 },
  async () => {
    const file = join(folder, 'main.ts')
    const text = source.replaceAll('‹', '')
    writeFileSync(file, text)
    const compilerOptions = { strict: true, module: 'nodenext', target: 'es2023', noEmit: true }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['main.ts'] }))
    const uri = pathToFileURL(file).href
    await server.ask('initialize', {
      processId: process.pid,
      rootUri: pathToFileURL(folder).href,
      capabilities: { textDocument: { hover: { contentFormat: ['markdown'] } } },
    })
    server.tell('initialized', {})
    server.tell('textDocument/didOpen', { textDocument: { uri, languageId: 'typescript', version: 1, text } })
    const shown: string[] = []
    for (const [line, marked] of source.split('\n').entries()) {
      const character = marked.indexOf('‹')
      if (character < 0) continue
      const answer = await server.ask('textDocument/hover', {
        textDocument: { uri },
        position: { line, character },
      })
      shown.push((answer as { contents: { value: string } }).contents.value)
    }
    const [get = '', post = '', put = '', on = '', onWith = '', use = '', state = ''] = shown
    assert.match(get, /Registers a route: `app\.get\('\/users\/:id'/)
    assert.match(get, /handler.*What it returns or resolves to is the reply/)
    assert.match(post, /Registers a route with options, or with a middleware/)
    assert.match(post, /options: \{\s*readonly maxBodySize: 10/)
    assert.match(put, /Registers a route with options or a middleware, and with further middleware/)
    assert.match(on, /Registers a route for several methods: /)
    assert.match(onWith, /Registers a route for several methods, with options or middleware/)
    assert.match(use, /Adds middleware for every request of this scope/)
    assert.match(state, /const state: \{\s*user: User;\s*at: Date;\s*\}/)
  },
)
