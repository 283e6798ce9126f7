/**
 * `npm run types`: what apps of 10, 100 and 400 routes cost the compiler. Each route has two path parameters, a query
 * and a body schema of Zod 4, state from a middleware, and a returned value; one with a full contract also a schema of
 * its parameters, two replies, two errors of its own and one of the middleware; a client calls each of those and takes
 * its results apart; a procedure is called by that client and by tRPC's. Fails when a route costs more the more of
 * them there are, or more than its budget. Needs compiled packages.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './command.mjs'

const sizes = [10, 100, 400]
/** `budget`: type instantiations a route may cost, measured with TypeScript 7.0.2 and Zod 4.6.7, and 5 % for what comes. */
const kinds = [
  // Measured: 1,275.
  { name: 'validated routes', folder: 'validated', budget: 1_320, source: validated },
  // Measured: 2,846.
  { name: 'full contracts', folder: 'contracts', budget: 2_985, source: contracts },
  // Measured: 4,293.
  { name: 'full contracts, each called by a client', folder: 'client', budget: 4_350, source: client },
  // Measured: 2,978.
  { name: 'procedures, each called by two clients', folder: 'procedures', budget: 3_030, source: procedures },
]
/** What the names of procedures begin with. */
const verbs = ['get', 'list', 'create', 'update', 'remove']
/** How much more a route may cost among 400 than among 100; linear is 1. */
const growth = 1.1

const compilerOptions = {
  strict: true,
  target: 'es2023',
  lib: ['es2023'],
  module: 'nodenext',
  moduleDetection: 'force',
  types: ['node'],
  noEmit: true,
  skipLibCheck: true,
}

/** Types that became `any` would be cheap. */
const refusals = [
  `app.post('/typed/:id', {`,
  `  params: z.object({ id: z.coerce.number() }), response: { 200: z.object({ a: z.string() }), 202: z.object({ b: z.string() }) },`,
  `  errors: { GONE: { status: 410, data: z.object({ at: z.string() }) } },`,
  `}, (ctx) => {`,
  `  // @ts-expect-error a schema made it a number`,
  `  ctx.params.id.trim()`,
  `  // @ts-expect-error nobody declares this error`,
  `  void (() => ctx.fail('OTHER'))`,
  `  // @ts-expect-error its data is another`,
  `  void (() => ctx.fail('GONE', { at: 1 }))`,
  `  // @ts-expect-error 202 is another`,
  `  void (() => ctx.reply(202, { a: 'a' }))`,
  `  // @ts-expect-error 201 is not declared`,
  `  void (() => ctx.reply(201, { a: 'a' }))`,
  `  return { a: 'a' }`,
  `})`,
  `// @ts-expect-error another value is declared`,
  `app.get('/wrong', { response: z.object({ a: z.string() }) }, () => ({ a: 1 }))`,
]

const folder = join(root, '.cache/type-budget')
if (!existsSync(join(root, 'packages/volant/dist/src/index.d.ts'))) {
  fail('packages/volant is not compiled: run npm run build')
}
rmSync(folder, { recursive: true, force: true })

for (const kind of kinds) judge(kind)

function judge({ name, folder: own, budget, source }) {
  const costs = sizes.map((routes) => measure(join(folder, own, String(routes)), routes, source(routes)))
  const slopes = costs.slice(1).map((cost, index) => {
    const before = costs[index]
    return (cost.instantiations - before.instantiations) / (cost.routes - before.routes)
  })
  console.log(`\n${name}, at most ${number(budget)} instantiations each\n`)
  console.log('| routes | instantiations | per further route | check time, s | memory, MB |')
  console.log('|---:|---:|---:|---:|---:|')
  costs.forEach(({ routes, instantiations, seconds, megabytes }, index) => {
    const slope = index === 0 ? '' : number(slopes[index - 1])
    console.log(`| ${routes} | ${number(instantiations)} | ${slope} | ${seconds} | ${number(megabytes)} |`)
  })
  const [first, last] = slopes
  if (last > first * growth)
    fail(`${name}: one costs ${number(last)} instantiations after ${number(first)} before: not linear`)
  if (last > budget)
    fail(`${name}: one costs ${number(last)} instantiations, the budget is ${number(budget)}`)
}

/** One thread: several would count what they share more than once, differently on each machine. */
function measure(app, routes, source) {
  mkdirSync(app, { recursive: true })
  writeFileSync(join(app, 'main.ts'), source)
  writeFileSync(join(app, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['main.ts'] }))
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const args = [compiler, '-p', app, '--extendedDiagnostics', '--singleThreaded', '--pretty', 'false']
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' })
  if (status !== 0) fail(`an app of ${routes} routes does not compile:\n${stdout}${stderr}`)
  const figure = (name) => {
    const match = new RegExp(`^${name}:\\s+([\\d.]+)`, 'm').exec(stdout)
    return match ? Number(match[1]) : fail(`the compiler prints no "${name}"`)
  }
  return {
    routes,
    instantiations: figure('Instantiations'),
    seconds: figure('Check time'),
    megabytes: figure('Memory used') / 1000,
  }
}

function validated(routes) {
  const lines = [
    `import { createApp, middleware } from 'volant'`,
    `import * as z from 'zod'`,
    ``,
    `const auth = middleware<{ user: { id: number; role: 'admin' | 'user' } }>((ctx, next) => {`,
    `  ctx.state.user = { id: 1, role: 'user' }`,
    `  return next()`,
    `})`,
    `const app = createApp().with(auth)`,
  ]
  for (let n = 0; n < routes; n++) lines.push('', ...route(n))
  // Types that became `any` would be cheap.
  lines.push(
    '',
    `app.post('/typed/:id', { query: z.object({ a: z.string() }), body: z.object({ a: z.string() }) }, (ctx) => [`,
  )
  for (const part of ['params', 'query', 'body', 'state']) {
    lines.push('  // @ts-expect-error no part has this', `  ctx.${part}.nothing,`)
  }
  lines.push('])')
  return `${lines.join('\n')}\n`
}

/** No two routes share a pattern or a schema: the compiler caches what is alike. */
function route(n) {
  return [
    `export const route${n} = app.post('/group${n % 20}/:id${n}/items/:item${n}', {`,
    `  query: z.object({ page${n}: z.coerce.number().int().min(1).default(1), order: z.enum(['up', 'down']) }),`,
    `  body: z.object({ name${n}: z.string().min(1), age: z.number().int().optional(), tags: z.array(z.string()) }),`,
    `}, (ctx) => {`,
    `  const { page${n}, order } = ctx.query`,
    `  return {`,
    `    key: ctx.params.id${n} + ctx.params.item${n}, page: page${n}.toFixed(), order, by: ctx.state.user.role,`,
    `    name: ctx.body.name${n}.trim(), age: ctx.body.age ?? 0, tags: ctx.body.tags,`,
    `  }`,
    `})`,
  ]
}

function contracts(routes) {
  const lines = [
    `import { createApp, middleware } from 'volant'`,
    `import * as z from 'zod'`,
    ``,
    `const auth = middleware<{ user: { id: number; role: 'admin' | 'user' } }>()(`,
    `  { errors: { UNAUTHORIZED: { status: 401 } } },`,
    `  (ctx, next) => {`,
    `    ctx.state.user = { id: 1, role: 'user' }`,
    `    return next()`,
    `  },`,
    `)`,
    `const app = createApp().with(auth)`,
  ]
  for (let n = 0; n < routes; n++) lines.push('', ...fullContract(n))
  lines.push('', ...refusals)
  return `${lines.join('\n')}\n`
}

function fullContract(n) {
  return [
    `export const route${n} = app.post('/group${n % 20}/:id${n}/items/:item${n}', {`,
    `  summary: 'Changes item ${n}',`,
    `  tags: ['group ${n % 20}'],`,
    `  params: z.object({ id${n}: z.coerce.number().int(), item${n}: z.string() }),`,
    `  query: z.object({ page${n}: z.coerce.number().int().min(1).default(1), order: z.enum(['up', 'down']) }),`,
    `  body: z.object({ name${n}: z.string().min(1), age: z.number().int().optional(), tags: z.array(z.string()) }),`,
    `  response: {`,
    `    200: z.object({ key${n}: z.string(), page: z.number(), order: z.enum(['up', 'down']), tags: z.array(z.string()) }),`,
    `    202: z.object({ job${n}: z.string() }),`,
    `  },`,
    `  errors: {`,
    `    ITEM_${n}_NOT_FOUND: { status: 404, data: z.object({ id${n}: z.number() }) },`,
    `    LOCKED: { status: 409 },`,
    `  },`,
    `}, (ctx) => {`,
    `  const { page${n}, order } = ctx.query`,
    `  if (ctx.params.id${n} === 0) throw ctx.fail('ITEM_${n}_NOT_FOUND', { id${n}: ctx.params.id${n} })`,
    `  if (ctx.state.user.role === 'user') throw ctx.fail('UNAUTHORIZED')`,
    `  if (ctx.body.tags.length > 9) return ctx.reply(202, { job${n}: ctx.body.name${n} })`,
    `  return { key${n}: ctx.params.item${n}, page: page${n}, order, tags: ctx.body.tags }`,
    `})`,
  ]
}

/** One call of each route, all its results told apart. */
function client(routes) {
  const names = Array.from({ length: routes }, (_, n) => n)
  const lines = [
    `import { createClient } from 'volant/client'`,
    contracts(routes),
    `const api = {`,
    ...names.map(
      (n) => `  ${n % 10 === 0 ? `group${n}: { ` : ''}call${n}: route${n}${n % 10 === 9 ? ' }' : ''},`,
    ),
    `}`,
    `export const client = createClient<typeof api>('http://unused.test')`,
  ]
  for (const n of names) lines.push('', ...call(n))
  return `${lines.join('\n')}\n`
}

function call(n) {
  return [
    `export async function use${n}(): Promise<string> {`,
    `  const reply = await client.group${n - (n % 10)}.call${n}({`,
    `    params: { id${n}: 1, item${n}: 'a' }, query: { page${n}: 2, order: 'up' }, body: { name${n}: 'a', tags: [] },`,
    `  })`,
    `  if (reply.ok) return reply.status === 200 ? reply.data.key${n} : reply.data.job${n}`,
    `  if (reply.code === 'ITEM_${n}_NOT_FOUND') return reply.data.id${n}.toFixed()`,
    `  // @ts-expect-error this one has no data`,
    `  void reply.data.nothing`,
    `  return reply.code === 'E_VALIDATION' ? reply.issues.join() : reply.code satisfies 'LOCKED' | 'UNAUTHORIZED'`,
    `}`,
  ]
}

/** Ten to a router, with the names that REST knows and others. */
function procedures(count) {
  const lines = [
    `import { before } from 'volant'`,
    `import { createClient } from 'volant/client'`,
    `import { procedure, rest, router } from 'volant/procedures'`,
    `import type { TRPCRouterOf } from 'volant/trpc'`,
    `import { createTRPCClient, httpLink } from '@trpc/client'`,
    `import * as z from 'zod'`,
    ``,
    `const auth = before<{ user: { id: number } }>()({ errors: { UNAUTHORIZED: { status: 401 } } }, () => {})`,
    `const authed = procedure().use(auth)`,
  ]
  const routers = []
  for (let n = 0; n < count; n += 10) {
    routers.push(`router${n}`)
    lines.push('', `const router${n} = router({`)
    for (let m = n; m < n + 10; m++) lines.push(...procedureOf(m))
    lines.push(`})`)
  }
  lines.push(
    ``,
    `const api = router({ ${routers.join(', ')} })`,
    `const routes = rest(api)`,
    `const client = createClient<typeof routes.api>('http://unused.test')`,
    `const rpc = createTRPCClient<TRPCRouterOf<typeof api>>({ links: [httpLink({ url: 'http://unused.test' })] })`,
  )
  for (let n = 0; n < count; n++) lines.push('', ...callsOf(n))
  return `${lines.join('\n')}\n`
}

function procedureOf(n) {
  const verb = verbs[n % 5]
  return [
    `  ${verb}Item${n}: authed`,
    `    .input(z.object({ id: z.number(), name${n}: z.string().min(1) }))`,
    `    .output(z.object({ key${n}: z.string(), by: z.number() }))`,
    `    .errors({ ITEM_${n}_NOT_FOUND: { status: 404, data: z.object({ id${n}: z.number() }) } })`,
    `    .${verb === 'get' || verb === 'list' ? 'query' : 'mutation'}(({ input, ctx }) => {`,
    `      if (input.id === 0) throw ctx.fail('ITEM_${n}_NOT_FOUND', { id${n}: input.id })`,
    `      return { key${n}: input.name${n}, by: ctx.state.user.id }`,
    `    }),`,
  ]
}

function callsOf(n) {
  const verb = verbs[n % 5]
  const name = `router${n - (n % 10)}.${verb}Item${n}`
  const isQuery = verb === 'get' || verb === 'list'
  const others = isQuery || verb === 'remove' ? 'query' : 'body'
  const input =
    verb === 'list' || verb === 'create'
      ? `{ ${others}: { id: 1, name${n}: 'a' } }`
      : `{ params: { id: 1 }, ${others}: { name${n}: 'a' } }`
  return [
    `export async function use${n}(): Promise<string> {`,
    `  const { key${n} } = await rpc.${name}.${isQuery ? 'query' : 'mutate'}({ id: 1, name${n}: 'a' })`,
    `  const reply = await client.${name}(${input})`,
    `  // @ts-expect-error there is more to the input`,
    `  void (() => rpc.${name}.${isQuery ? 'query' : 'mutate'}({ id: 1 }))`,
    `  if (reply.ok) return reply.data.key${n} + key${n}`,
    `  if (reply.code === 'ITEM_${n}_NOT_FOUND') return reply.data.id${n}.toFixed()`,
    `  return reply.code satisfies 'E_VALIDATION' | 'UNAUTHORIZED'`,
    `}`,
  ]
}

function number(value) {
  return Math.round(value).toLocaleString('en-US')
}

function fail(message) {
  console.error(message)
  process.exit(1)
}
