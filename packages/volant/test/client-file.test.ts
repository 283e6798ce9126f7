/** The generated file says the same as the types of the routes it was made from. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import { clientFile } from '../src/generate/client-file.ts'
import { TypeTexts } from '../src/generate/type-text.ts'
import { contract, createApp } from '../src/index.ts'
import { api, app } from './client-file-api.ts'
import { typeTexts } from './type-text-rows.ts'

const root = fileURLToPath(new URL('../../../..', import.meta.url))

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

/** Inputs and results of each operation, from both sides; and that a difference would be seen. */
const comparison = `
import { createClient, type Client, type SocketOperation } from 'volant/client'
import { type Api, routes } from './api.ts'
import { type Api as Declared, routes as table } from './two/api.js'
import type { api } from '../../packages/volant/dist/test/client-file-api.js'

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

test('the table is that of /client.json, and contracts do without an app', async () => {
  const { javascript } = clientFile(app)
  const url = `data:text/javascript,${encodeURIComponent(javascript)}`
  const { routes } = (await import(url)) as { routes: unknown }
  assert.deepEqual(routes, (await app.inject('/client.json')).json())
  const tree = {
    a: {
      'b-c': contract.post('/x/:id', { body: z.object({ n: z.number() }), errors: { E: { status: 400 } } }),
    },
  }
  const sockets = { chat: contract.ws('/chat/:room', { in: z.object({ n: z.number() }) }) }
  assert.match(
    clientFile(sockets).text,
    /chat: Socket<\n {4}\{[^]*room: PathValue[^]*\},\n {4}\{\n {6}n: number\n {4}\},\n {4}RawMessage\n {2}>[^]*\["WS","\/chat\/:room",\["in"\]\]/,
  )
  const { text } = clientFile(tree)
  assert.match(text, /"a\.b-c": \["POST","\/x\/:id",\["E 400","E_VALIDATION 400"\]\]/)
  assert.match(text, / {2}a: \{\n {4}\/\*\* `POST \/x\/:id` \*\/\n {4}"b-c": Operation</)
  assert.match(
    clientFile(api).text,
    /"users\.get": \["GET","\/users\/:id",\[200,"USER_NOT_FOUND 404","GONE \d+",/,
  )
})

test('parts without JSON Schema are named with their places', () => {
  const body = z.object({ 'a/b': z.custom<string>(), at: z.date(), n: z.coerce.number() })
  const response = z.array(z.object({ a: z.string().transform(Number), b: z.unknown() }))
  const { opaque, text } = clientFile({ x: contract.post('/x', { body, response }) })
  assert.deepEqual(opaque, [
    'x: body at #/a~1b is unknown: a custom has no JSON Schema',
    'x: response 200 at #/*/a is unknown: a transform has no JSON Schema',
  ])
  assert.match(text, /"a\/b": unknown/)
  assert.doesNotMatch(text, /hole/)
})

test('what has no JSON Schema is named, and what is no API refused', () => {
  const strange = {
    '~standard': { version: 1, vendor: 'strange', validate: (value: unknown) => ({ value }) },
  } as const
  const made = createApp({ signals: false })
  made.expose({
    odd: made.post('/odd', { body: strange, response: { 201: strange } }, (ctx) => ctx.reply(201, 1)),
  })
  const { opaque, text } = clientFile(made)
  assert.equal(opaque.length, 2)
  assert.match(opaque[0] as string, /^odd: body is unknown: /)
  assert.match(text, /body\?: unknown/)
  assert.match(text, /Success<201, unknown>/)
  assert.throws(() => clientFile(createApp({ signals: false })), {
    code: 'E_BAD_OPTION',
    message: /exposes nothing/,
  })
  for (const value of [null, 5, 'x', { a: 1 }])
    assert.throws(() => clientFile(value as never), { code: 'E_BAD_OPTION' })
})

for (const [schema, text] of typeTexts) {
  test(`the type of ${JSON.stringify(schema)}`, () => assert.equal(new TypeTexts([]).of(schema, 'X'), text))
}

test('types that refer to themselves have names, each its own', () => {
  const texts = new TypeTexts(['Api', 'Node'])
  const list = (type: string) => ({
    type: 'object',
    properties: { next: { $ref: '#' }, value: { type } },
    required: ['next', 'value'],
  })
  assert.equal(
    texts.of(
      {
        type: 'array',
        items: { $ref: '#/$defs/node' },
        $defs: { node: { type: 'array', items: { $ref: '#/$defs/node' } } },
      },
      'A',
    ),
    'Node2[]',
  )
  assert.match(texts.of(list('string'), 'Api'), /next: Api2/)
  assert.match(texts.of(list('number'), 'Api'), /next: Api3/)
  assert.match(texts.of(list('number'), 'Other'), /next: Api3/)
  assert.deepEqual([...texts.declared.keys()], ['Node2', 'Api2', 'Api3'])
  assert.equal(texts.declared.get('Node2'), 'Node2[]')
})

test('objects with a title or an id are declared once, and what clients send beside it where it differs', () => {
  const Author = z.object({ name: z.string() }).meta({ id: 'author' })
  const Book = z
    .object({ isbn: z.string(), pages: z.number().default(1), by: Author })
    .meta({ title: 'Book' })
  const Other = z.object({ other: z.string() }).meta({ title: 'Book' })
  const book = { type: 'object', properties: { a: {} }, title: 'A book' } as const
  const kind = z.enum(['a', 'b']).meta({ title: 'Kind' })
  const tree = {
    add: contract.post('/books', { body: Book, response: { 201: Book } }),
    all: contract.get('/books', { response: z.array(Book) }),
    by: contract.get('/author', { response: Author.nullable() }),
    other: contract.get('/other', { response: { 200: Other, 201: book, 202: kind } }),
  }
  const { text } = clientFile(tree)
  assert.deepEqual(
    [...text.matchAll(/^export type (\w+) = /gm)].map(([, name]) => name),
    ['Book', 'Author', 'Book2', 'BookInput'],
  )
  for (const each of [
    'body: BookInput',
    'Success<201, Book>',
    'Success<200, Book[]>',
    'Success<200, Author | null>',
    'Success<200, Book2>',
    'Success<202, "a" | "b">',
  ])
    assert.ok(text.includes(each), each)
  assert.match(
    text,
    /export type BookInput = \{\n {2}isbn: string\n {2}pages\?: number \| undefined\n {2}by: Author\n\}/,
  )
})

test('a type that refers to itself is declared once for both directions, by its title', () => {
  const Node: z.ZodType = z
    .object({
      get next() {
        return Node.optional()
      },
    })
    .meta({ title: 'Knot' })
  const { text } = clientFile({ a: contract.post('/a', { body: Node, response: z.array(Node) }) })
  assert.deepEqual(
    [...text.matchAll(/^export type (\w+) = /gm)].map(([, name]) => name),
    ['Knot'],
  )
  assert.match(text, /export type Knot = \{\n {2}next\?: Knot \| undefined\n\}/)
})

test('the command writes the file, checks it, and says what is wrong', () => {
  const folder = mkdtempSync(join(tmpdir(), 'volant-types-'))
  const bin = fileURLToPath(new URL('../src/bin.js', import.meta.url))
  const module = fileURLToPath(new URL('./client-file-api.js', import.meta.url))
  const run = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...args], {
      cwd: folder,
      encoding: 'utf8',
    })
    return { status, stdout, stderr }
  }
  try {
    assert.deepEqual(run('types', module, '--out', 'client/api.ts'), {
      status: 0,
      stdout: 'wrote client/api.ts\n',
      stderr: '',
    })
    assert.equal(readFileSync(join(folder, 'client/api.ts'), 'utf8'), clientFile(app).text)
    assert.deepEqual(run('types', module, '--out', 'client/api.ts'), { status: 0, stdout: '', stderr: '' })
    assert.equal(run('types', `${module}#app`, '--out', 'client/api.ts', '--check').status, 0)
    const other = run('types', `${module}#api`, '--out', 'client/api.ts', '--check')
    assert.equal(other.status, 1)
    assert.match(other.stderr, /^volant: client\/api\.ts is not what the API says/)
    assert.equal(run('types', module, '-o', 'a.d.ts').stdout, 'wrote a.d.ts\nwrote a.js\n')
    assert.equal(readFileSync(join(folder, 'a.js'), 'utf8'), clientFile(app).javascript)
    const made = `import { createApp } from ${JSON.stringify(import.meta.resolve('../src/index.js'))}
      const made = createApp({ adapter: { type: 'node-http' }, signals: false })\n`
    const files = {
      'nothing.mjs': 'const x = 1',
      'number.mjs': 'export const app = 5',
      'listening.mjs': `${made}await made.listen(0, '127.0.0.1')`,
      'later.mjs': `${made}void made.listen(0, '127.0.0.1')`,
      'failing.mjs': `${made}await made.listen({ port: 0, host: '203.0.113.7' })`,
      'both.mjs': `${made}made.expose({ ping: made.get('/ping', () => 1) })\nexport { made as app }\nawait made.listen(0, '127.0.0.1')`,
      'enum.ts': 'export enum Colour { red }',
    }
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
    const both = run('types', './both.mjs', '--out', 'both.ts')
    assert.equal(both.status, 0)
    assert.match(both.stderr, /^volant: \.\/both\.mjs starts a server when it is imported\. Let one module/)
    for (const [args, message] of [
      [
        ['types', './nothing.mjs', '--out', 'x.ts'],
        /^volant: \.\/nothing\.mjs exports nothing: export the app/,
      ],
      [['types', './number.mjs', '--out', 'x.ts'], /^volant: \.\/number\.mjs#app: clientFile takes an app/],
      [
        ['types', './listening.mjs', '--out', 'x.ts'],
        /^volant: \.\/listening\.mjs has no export app, and starts a server when it is imported\. Let one/,
      ],
      [['types', './later.mjs', '--out', 'x.ts'], /and starts a server when it is imported/],
      [
        ['types', './failing.mjs', '--out', 'x.ts'],
        /^volant: \.\/failing\.mjs starts a server when it is imported, and that failed: port 0 of 203/,
      ],
      [
        ['types', './enum.ts', '--out', 'x.ts'],
        /^volant: (\.\/enum\.ts is TypeScript, which Node\.js \S+ does not run: compile it|.*enum)/,
      ],
      [['types'], /takes one module[^]*Usage/],
      [['types', module], /--out/],
      [['types', module, '--out', 'x.js'], /\.ts/],
      [['types', module, '--nothing'], /--nothing/],
      [
        ['types', `${module}#x`, '--out', 'x.ts'],
        /has no export x; it has api, app: write \S+#api or \S+#app\n/,
      ],
      [['types', './none.js', '--out', 'x.ts'], /none\.js/],
      [['nothing'], /no command nothing/],
    ] as const) {
      const { status, stderr } = run(...args)
      assert.equal(status, 1, args.join(' '))
      assert.match(stderr, message)
    }
    assert.match(run('--help').stdout, /^Usage: volant types/m)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
