/** Contracts cost a start next to nothing: what they need is worked out by the first request that needs it. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createApp, type Scope } from '../../src/index.ts'
import type { Schema } from '../../src/index.ts'
import { procedure, rest, router } from '../../src/procedures/index.ts'
import { trpc } from '../../src/procedures/trpc/index.ts'

/** A schema that lets everything pass and counts what is asked of it. */
function spy() {
  const asked = { validate: 0, jsonSchema: 0 }
  const describe = () => {
    asked.jsonSchema += 1
    return { type: 'object' }
  }
  const schema = {
    '~standard': {
      version: 1,
      vendor: 'spy',
      validate(value: unknown) {
        asked.validate += 1
        return { value }
      },
      jsonSchema: { input: describe, output: describe },
    },
  } as unknown as Schema
  return { asked, schema }
}

const parts = ['params', 'query', 'headers', 'cookies', 'body', 'response', 'data'] as const

function spies() {
  const all = parts.map((part) => [part, spy()] as const)
  return {
    of: Object.fromEntries(all) as Record<(typeof parts)[number], ReturnType<typeof spy>>,
    counts: () => Object.fromEntries(all.map(([part, { asked }]) => [part, { ...asked }])),
  }
}

const untouched = Object.fromEntries(parts.map((part) => [part, { validate: 0, jsonSchema: 0 }]))

function add(app: Scope, path: string, { of }: ReturnType<typeof spies>): void {
  const { params, query, headers, cookies, body, response, data } = of
  const options = {
    params: params.schema,
    query: query.schema,
    headers: headers.schema,
    cookies: cookies.schema,
    body: body.schema,
    response: { 200: response.schema, 202: response.schema },
    errors: { GONE: { status: 410, data: data.schema } },
  }
  app.post(path, options, () => ({ a: 1 }))
}

test('no schema is run or described before the first request of its route', async () => {
  const app = createApp({ adapter: { type: 'node-http' }, signals: false, limits: { drainIdle: 0 } })
  after(() => app.close())
  const [first, second] = [spies(), spies()]
  add(app as unknown as Scope, '/first/:id', first)
  add(app as unknown as Scope, '/second/:id', second)
  const { port } = await app.listen(0, '127.0.0.1')
  assert.deepEqual([first.counts(), second.counts()], [untouched, untouched])

  const headers = { 'content-type': 'application/json' }
  const reply = await fetch(`http://127.0.0.1:${port}/first/1`, { method: 'POST', headers, body: '{}' })
  assert.deepEqual([reply.status, await reply.json()], [200, { a: 1 }])
  for (const part of ['params', 'query', 'headers', 'cookies', 'body', 'response'] as const)
    assert.equal(first.of[part].asked.validate, 1, part)
  assert.equal(first.of.data.asked.validate, 0)
  assert.deepEqual(second.counts(), untouched)
})

test('nor are those of procedures, over either transport', async () => {
  const app = createApp({ adapter: { type: 'node-http' }, signals: false, limits: { drainIdle: 0 } })
  after(() => app.close())
  const [input, output, missing] = [spy(), spy(), spy()]
  const api = router({
    users: router({
      getUser: procedure()
        .input(input.schema)
        .output(output.schema)
        .errors({ GONE: { status: 410, data: missing.schema } })
        .query(() => ({ a: 1 })),
    }),
  })
  app.register(rest(api)).register(trpc(api))
  const { port } = await app.listen(0, '127.0.0.1')
  const none = { validate: 0, jsonSchema: 0 }
  assert.deepEqual([input.asked, output.asked, missing.asked], [none, none, none])

  const reply = await fetch(`http://127.0.0.1:${port}/trpc/users.getUser?input=%7B%7D`)
  assert.deepEqual([reply.status, await reply.json()], [200, { result: { data: { a: 1 } } }])
  assert.deepEqual([input.asked.validate, output.asked.validate, missing.asked.validate], [1, 1, 0])
})

/** Packages that compile schemas or write documents. */
const heavy = ['ajv', 'ajv-formats', 'fast-json-stringify', 'yaml']

test('an app with contracts starts without a compiler of schemas', () => {
  const index = new URL('../../src/index.js', import.meta.url)
  const script = `
    import { createRequire } from 'node:module'
    import * as z from 'zod'
    import { createApp } from ${JSON.stringify(String(index))}
    const app = createApp({ adapter: { type: 'node-http' }, signals: false })
    for (let n = 0; n < 50; n++) {
      const schema = z.object({ ['a' + n]: z.string() })
      const errors = { GONE: { status: 410, data: schema } }
      app.post('/zod' + n, { query: schema, body: schema, response: schema, errors }, (ctx) => ctx.body)
    }
    await app.listen(0, '127.0.0.1')
    console.log(JSON.stringify(Object.keys(createRequire(import.meta.url).cache)))
    if (process.env.LOADS) createRequire(${JSON.stringify(String(index))})('ajv')
    console.log(JSON.stringify(Object.keys(createRequire(import.meta.url).cache)))
    await app.close()
  `
  const folder = fileURLToPath(new URL('../../..', import.meta.url))
  const run = (environment: NodeJS.ProcessEnv): string[][] => {
    const args = ['--input-type=module', '--eval', script]
    const env = { ...process.env, ...environment }
    const { status, stdout, stderr } = spawnSync(process.execPath, args, {
      cwd: folder,
      env,
      encoding: 'utf8',
    })
    assert.equal(status, 0, stderr)
    return stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as string[]).flatMap(packageOf))
  }
  const [atStart] = run({}) as [string[]]
  assert.deepEqual(
    atStart.filter((name) => heavy.includes(name)),
    [],
  )
  // Otherwise this test could not see one that is loaded.
  const [, loaded] = run({ LOADS: 'yes' }) as [string[], string[]]
  assert.ok(loaded.includes('ajv'), loaded.join(' '))
})

function packageOf(file: string): string[] {
  const name = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file.replaceAll('\\', '/'))?.[1]
  return name === undefined ? [] : [name]
}
