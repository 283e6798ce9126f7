/** The generated file says the same as the types of the routes it was made from. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { clientFile } from '../../../src/generate/client-file.ts'
import { app } from './api.ts'

const root = fileURLToPath(new URL('../../../../../..', import.meta.url))

const flags = [
  '--ignoreConfig',
  '--noEmit',
  '--strict',
  '--exactOptionalPropertyTypes',
  '--skipLibCheck',
  '--allowImportingTsExtensions',
  '--module',
  'nodenext',
  '--target',
  'es2023',
  '--types',
  'node',
]

/** Inputs and results of each operation, from both sides; and that a difference would be seen. */
const comparison = `
import { createClient, type Client, type SocketOperation } from 'volant/client'
import { type Api, routes } from './api.ts'
import { type Api as Declared, routes as table } from './two/api.js'
import type { api } from '../../packages/volant/dist/test/client/generated-file/api.js'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
type Flat<T> = T extends ReadableStream | Response ? T : T extends object ? { [K in keyof T]: Flat<T[K]> } : T
type Input<C> = C extends (input: infer I, ...rest: never) => unknown ? Flat<I> : never
type Result<C> = C extends (...args: never) => Promise<infer R> ? Flat<R> : never
type Messages<S> = S extends SocketOperation<infer I, infer S, infer R> ? [Flat<I>, Flat<S>, Flat<R>] : never
type Inferred = Client<typeof api>
type Generated = Client<Api>
const same = <A, B>(_: Same<A, B>): void => {}

${['users.get', 'users.add', 'users.admin.remove', 'tree', 'maybe', 'page', 'image', 'any', 'json']
  .map((name) => `['${name.replaceAll('.', "']['")}']`)
  .map(
    (path) => `same<Input<Inferred${path}>, Input<Generated${path}>>(true)
same<Result<Inferred${path}>, Result<Generated${path}>>(true)`,
  )
  .join('\n')}
${['chat', 'raw']
  .map(
    (name) => `same<Messages<Inferred['rooms']['${name}']>, Messages<Generated['rooms']['${name}']>>(true)`,
  )
  .join('\n')}
same<Messages<Inferred['rooms']['chat']>, Messages<Inferred['rooms']['raw']>>(false)
same<Api, Declared>(true)
same<Result<Inferred['tree']>, Result<Generated['any']>>(false)

const client = createClient<Api>('http://unused.test', { routes })
createClient<Declared>('http://unused.test', { routes: table })
export const use = async (): Promise<string> => {
  const reply = await client.users.get({ params: { id: 'a' } })
  if (reply.ok) return reply.data.address?.city ?? reply.data.pair[0]
  return reply.code === 'USER_NOT_FOUND' ? reply.data.id.toFixed() : reply.code
}
// In a page (lib DOM) a decoder takes no bytes that may be shared.
export const decoded = async (inferred: Inferred): Promise<ReadableStream<string>[]> => [
  (await inferred.image()).data.pipeThrough(new TextDecoderStream()),
  (await client.image()).data.pipeThrough(new TextDecoderStream()),
]
`

test('a compiler finds each operation the same, inferred and generated', () => {
  const { text, opaque, javascript, declarations } = clientFile(app)
  assert.deepEqual(opaque, [])
  assert.equal(clientFile(app).text, text)
  assert.deepEqual(text.match(/^import .*$/gm), [
    `import type { ClientRoutes, Failure, HeaderValue, Invalid, Operation, PathValue, QueryValue, RawMessage, Socket, Success } from 'volant/client'`,
  ])
  mkdirSync(join(root, '.cache'), { recursive: true })
  const folder = mkdtempSync(join(root, '.cache/client-file-'))
  try {
    writeFileSync(join(folder, 'api.ts'), text)
    mkdirSync(join(folder, 'two'))
    writeFileSync(join(folder, 'two/api.d.ts'), declarations)
    writeFileSync(join(folder, 'two/api.js'), javascript)
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
    writeFileSync(join(folder, 'main.ts'), comparison)
    const { status, stdout } = spawnSync(
      process.execPath,
      [join(root, 'node_modules/typescript/bin/tsc'), ...flags, join(folder, 'main.ts')],
      { cwd: root, encoding: 'utf8' },
    )
    assert.equal(stdout, '')
    assert.equal(status, 0)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
