/**
 * `npm run types`: what apps of 10, 100 and 400 routes cost the compiler. Each route has two path parameters, a query
 * and a body schema of Zod 4, state from a middleware, and a returned value. Fails when a route costs more the more of
 * them there are, or more than the budget. Needs compiled packages.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './command.mjs'

const sizes = [10, 100, 400]
/** Type instantiations a route may cost: 1,254 with TypeScript 7.0.2 and Zod 4.6.7, and 5 % for what comes. */
const budget = 1_320
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

const folder = join(root, '.cache/type-budget')
if (!existsSync(join(root, 'packages/volant/dist/src/index.d.ts'))) {
  fail('packages/volant is not compiled: run npm run build')
}
rmSync(folder, { recursive: true, force: true })

const costs = sizes.map(measure)
const slopes = costs.slice(1).map((cost, index) => {
  const before = costs[index]
  return (cost.instantiations - before.instantiations) / (cost.routes - before.routes)
})

console.log('| routes | instantiations | per further route | check time, s | memory, MB |')
console.log('|---:|---:|---:|---:|---:|')
costs.forEach(({ routes, instantiations, seconds, megabytes }, index) => {
  const slope = index === 0 ? '' : number(slopes[index - 1])
  console.log(`| ${routes} | ${number(instantiations)} | ${slope} | ${seconds} | ${number(megabytes)} |`)
})

const [first, last] = slopes
if (last > first * growth)
  fail(`a route costs ${number(last)} instantiations after ${number(first)} before: not linear`)
if (last > budget) fail(`a route costs ${number(last)} instantiations, the budget is ${number(budget)}`)

/** One thread: several would count what they share more than once, differently on each machine. */
function measure(routes) {
  const app = join(folder, String(routes))
  mkdirSync(app, { recursive: true })
  writeFileSync(join(app, 'main.ts'), source(routes))
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

function source(routes) {
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

function number(value) {
  return Math.round(value).toLocaleString('en-US')
}

function fail(message) {
  console.error(message)
  process.exit(1)
}
