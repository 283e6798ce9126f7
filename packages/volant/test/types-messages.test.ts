/** What the compiler says of mistakes: where it marks them, and whether it says what to write. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../../..', import.meta.url))

const flags =
  '--ignoreConfig --noEmit --noErrorTruncation --strict --skipLibCheck --pretty false --module nodenext --target es2023'

const head = `import { before, contract, createApp, type Declaration, middleware } from 'volant'
import type { ResultOf } from 'volant/client'
import { procedure, router } from 'volant/procedures'
import * as z from 'zod'
export const app = createApp({ signals: false })
export const User = z.object({ id: z.number(), name: z.string() })
export const user = contract.get('/users/:id', { response: User })
export const add = contract.post('/users', { response: { 201: User } })
export const auth = before<{ user: string }>((ctx) => void (ctx.state.user = 'a'))
export const declared = { errors: { X: { status: 401 } } }
before<{ user: string }>({ security: {} }, (ctx) => void (ctx.state.user = 'a'))
export const put = contract.put('/users', {
  body: User,
  response: { 201: User, 204: null, 302: null, 409: User },
  errors: { GONE: { status: 410, data: User } },
})
before({} as Declaration, () => {})
middleware<{ user: string }>({ onResponse() {} }, (ctx, next) => next())
before<{ user: string }>()({ errors: { X: { status: 401 } } }, (ctx) => ctx.fail('X'))
`

/** Statements with what is marked in them between ‹ and ›, and what is said of it. */
const mistakes: [statement: string, message: RegExp][] = [
  [
    `before<{ user: string }>({ ‹errors›: { X: { status: 401 } } }, (ctx) => { throw ctx.fail('Y') })`,
    /name the state first: before<State>\(\)\(\{ errors \}, run\)/,
  ],
  [
    `middleware<{ user: string }>({ ‹errors›: { X: { status: 401 } } }, (ctx, next) => next())`,
    /name the state first: middleware<State>\(\)\(\{ errors \}, run\)/,
  ],
  [`before<{ user: string }>(‹declared›, () => {})`, /name the state first/],
  [
    `app.implement(user, () => ({ ‹id›: '1', name: 'a' }))`,
    /^Type 'string' is not assignable to type 'number'/,
  ],
  [`app.implement(user, auth, () => ({ ‹id›: '1', name: 'a' }))`, /^Type 'string' is not assignable/],
  [`app.implement(user, async () => ‹({ id: '1', name: 'a' })›)`, /Types of property 'id' are incompatible/],
  [`app.implement({ user }, { user: () => ({ ‹id›: '1', name: 'a' }) })`, /^Type 'string' is not assignable/],
  [`app.implement({ user, add }, ‹{ user: () => ({ id: 1, name: 'a' }) }›)`, /^Property 'add' is missing/],
  [`app.implement(add, () => ‹({ id: 1, name: 'a' })›)`, /200 is not declared: write ctx\.reply\(201, …\)/],
  [
    `app.get('/a', { response: { 201: User } }, () => ‹({ id: 1, name: 'a' })›)`,
    /200 is not declared: write ctx\.reply\(201, …\)/,
  ],
  [
    `app.get('/b', { response: { 204: null } }, async () => ‹({ id: 1 })›)`,
    /200 is not declared: write ctx\.reply\(204, …\)/,
  ],
  [
    `app.get('/d', (ctx) => ‹ctx›.fail('X'))`,
    /no error is declared here: errors: \{ CODE: \{ status \} \} declares one/,
  ],
  [`app.get('/e', auth, (ctx) => ‹ctx›.fail('X'))`, /no error is declared here/],
  [
    `app.get('/f', { errors: { A: { status: 404 } } }, (ctx) => ctx.fail(‹'X'›))`,
    /^Argument of type '"X"' is not assignable to parameter of type '"A"'/,
  ],
  [
    `router({ a: procedure().query(() => 1), ‹b›: procedure().input(User) })`,
    /"a procedure ends with \.query\(handler\), \.mutation\(handler\) or \.subscription\(handler\)"/,
  ],
  [`router({ a: router({ ‹b›: procedure() }) })`, /"a procedure ends with \.query\(handler\)/],
  [
    `app.get('/g', { ‹bodyMod›: 'stream' }, () => 1)`,
    /^Object literal .*'bodyMod' does not exist in type 'OptionsOrMiddleware<RouteParts<RootParts, "\/g">>'/,
  ],
  [`app.get('/h', ‹5›, () => 1)`, /not assignable to parameter of type 'OptionsOrMiddleware</],
  [
    `app.with(auth).with(before<{ user: string; at: Date }>(() => {})).get('/i', (ctx) => { const ‹n›: number = ctx.state; return n })`,
    /^Type '\{ user: string; at: Date; \}' is not assignable to type 'number'/,
  ],
  // The result of a call is shown as the data that arrives, and not as the schemas it is made of.
  [
    `export const ‹result›: 5 = {} as ResultOf<typeof put>`,
    /^Type '(?=.*Success<201, \{ id: number; name: string; \}>)(?=.*Success<204, undefined>)(?=.*Failure<undefined, 409, \{ id: number; name: string; \}>)(?=.*Failure<"GONE", 410, \{ id: number; name: string; \}>)(?!.*(?:ByStatus|Zod|Jsonified))/,
  ],
  [`contract.get('/c', ‹() => 1›)`, /a contract has no handler: app\.implement\(contract, handler\)/],
]

test('mistakes are marked where they are, with what to write instead', () => {
  mkdirSync(join(root, '.cache'), { recursive: true })
  const folder = mkdtempSync(join(root, '.cache/types-messages-'))
  try {
    const lines = mistakes.map(([statement]) => statement.replaceAll(/[‹›]/g, ''))
    writeFileSync(join(folder, 'main.ts'), head + lines.join('\n'))
    const { stdout } = spawnSync(
      process.execPath,
      [join(root, 'node_modules/typescript/bin/tsc'), ...flags.split(' '), join(folder, 'main.ts')],
      { cwd: root, encoding: 'utf8' },
    )
    const said = stdout.split(/^\S*main\.ts(?=\()/m).slice(1)
    const before = head.split('\n').length - 1
    mistakes.forEach(([statement, message], index) => {
      const column = statement.indexOf('‹') + 1
      const own = said.filter((each) => each.startsWith(`(${before + index + 1},`))
      assert.equal(own.length, 1, `${statement}: ${own.join('')}`)
      const [, at, text = ''] = /^\(\d+,(\d+)\): error \w+: ([^]*)/.exec(own[0] as string) ?? []
      assert.equal(Number(at), column, `${statement}: ${text}`)
      assert.match(text, message, statement)
    })
    assert.equal(said.length, mistakes.length, stdout)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
