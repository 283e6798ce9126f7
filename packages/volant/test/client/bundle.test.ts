/** What a page pays for the client, and that it runs where there is no Node.js. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import vm from 'node:vm'
import { gzipSync } from 'node:zlib'
import { build, type BuildOptions } from 'esbuild-wasm'

/** Bytes, minified and gzipped: of a client that uses no WebSocket, and of one that uses some. */
const budgets = { createClient: 4352, 'createClient, connect': 7680 }

const entry = fileURLToPath(new URL('../../src/client/index.js', import.meta.url))

async function bundle(options: BuildOptions): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    platform: 'browser',
    target: 'es2022',
    write: false,
    logLevel: 'silent',
    ...options,
  })
  return outputFiles?.[0]?.text ?? ''
}

for (const [names, budget] of Object.entries(budgets)) {
  test(`a page that imports ${names} pays less than ${budget} bytes, and imports nothing`, async () => {
    const contents = `export { ${names} } from ${JSON.stringify(entry)}`
    const text = await bundle({ format: 'esm', entryPoints: [], stdin: { contents, resolveDir: '/' } })
    const size = gzipSync(text, { level: 9 }).length
    assert.ok(size <= budget, `${size} bytes`)
    assert.ok(size > budget * 0.9, `${size} bytes: lower the budget`)
    assert.doesNotMatch(text, /\bimport\b|\brequire\b|\bprocess\b|\bBuffer\b/)
  })
}

test('it needs no more than the web has', async () => {
  const text = await bundle({ format: 'iife', globalName: 'volant' })
  const asked: Request[] = []
  const page = vm.createContext({
    AbortController,
    AbortSignal,
    Blob,
    DOMException,
    FormData,
    Headers,
    ReadableStream,
    Request,
    Response,
    URL,
    URLSearchParams,
    setTimeout,
    clearTimeout,
    fetch: async (request: Request) => {
      asked.push(request)
      return request.url.endsWith('/client.json')
        ? Response.json({ 'a.b': ['POST', '/a/:id', [201]] })
        : Response.json({ got: await request.json() }, { status: 201 })
    },
  })
  vm.runInContext(text, page)
  const calling = `volant.createClient('http://page.test/api/').a.b({ params: { id: 'x y' }, query: { n: 1 }, body: { c: 1 } })`
  const reply = (await vm.runInContext(calling, page)) as { ok: boolean; status: number; data: unknown }
  assert.equal(reply.ok, true)
  assert.equal(reply.status, 201)
  assert.deepEqual(reply.data, { got: { c: 1 } })
  assert.deepEqual(
    asked.map(({ method, url }) => `${method} ${url}`),
    ['GET http://page.test/api/client.json', 'POST http://page.test/api/a/x%20y?n=1'],
  )
})
