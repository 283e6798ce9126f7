/** The options of `debug`, and who may not register it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { debug, type DebugOptions } from '../src/debug.ts'
import { before, cors, type VolantError } from '../src/index.ts'
import { Kit } from './kit.ts'

const kit = new Kit()

/** Runs with NODE_ENV=production. */
function inProduction(run: () => void): void {
  const { NODE_ENV } = process.env
  process.env['NODE_ENV'] = 'production'
  try {
    run()
  } finally {
    if (NODE_ENV === undefined) delete process.env['NODE_ENV']
    else process.env['NODE_ENV'] = NODE_ENV
  }
}

test('in production a guard is required, and the error says what to do', () => {
  inProduction(() => {
    for (const options of [undefined, {}, { guard: [] }]) {
      assert.throws(
        () => kit.app().register(debug, options),
        (error: VolantError) =>
          error.code === 'E_BAD_OPTION' &&
          /guard is missing, and NODE_ENV is production.*basic\(/.test(error.message),
      )
    }
    kit.app().register(debug, { guard: before(() => undefined) })
  })
})

test('pages of other origins are refused, with a guard that lets them in, too', async () => {
  const app = kit.app()
  app.use(cors())
  app.register(debug, { guard: before(() => undefined) })
  const ask = async (method: string, headers: Record<string, string>) => {
    const url = method === 'POST' ? '/debug/cpu-profile?seconds=0' : '/debug/runtime'
    return (await app.inject({ method, url, headers: { host: 'own.example', ...headers } })).status
  }
  const foreign = { 'sec-fetch-site': 'cross-site' }
  const link = { ...foreign, 'sec-fetch-mode': 'navigate' }
  assert.equal(await ask('GET', foreign), 403)
  assert.equal(await ask('HEAD', foreign), 403)
  assert.equal(await ask('GET', { 'sec-fetch-site': 'same-site' }), 403)
  assert.equal(await ask('GET', { origin: 'https://evil.example' }), 403)
  assert.equal(await ask('POST', { origin: 'null' }), 403)
  assert.equal(await ask('POST', link), 403)
  assert.equal(await ask('GET', link), 200)
  assert.equal(await ask('GET', {}), 200)
  assert.equal(await ask('GET', { origin: 'https://own.example' }), 200)
  // 400: the profile of no seconds is refused behind the gate.
  assert.equal(await ask('POST', { 'sec-fetch-site': 'same-origin', origin: 'https://own.example' }), 400)
  assert.equal(await ask('POST', {}), 400)
})

test('a heap snapshot only by its option', async () => {
  const app = kit.app()
  app.register(debug, { heapSnapshot: true, guard: before(() => undefined) })
  const reply = await app.inject({ method: 'POST', url: '/debug/heap-snapshot' })
  assert.equal(reply.status, 200)
  assert.match(String(reply.headers['content-disposition']), /heapsnapshot"$/)
  assert.ok('snapshot' in (JSON.parse(reply.body.toString()) as object))
})

test('the routes are not in the document of the API', () => {
  const app = kit.app()
  app.register(debug)
  assert.ok(app.routes().length >= 5)
  assert.ok(app.routes().every(({ hidden }) => hidden === true))
})

const nonsense: [string, unknown][] = [
  ['prefix', { prefix: 'debug' }],
  ['prefix', { prefix: '/' }],
  ['prefix', { prefix: 5 }],
  ['maxProfileSeconds', { maxProfileSeconds: 0 }],
  ['maxProfileSeconds', { maxProfileSeconds: 301 }],
  ['maxProfileSeconds', { maxProfileSeconds: '5' }],
  ['heapSnapshot', { heapSnapshot: 'yes' }],
  ['guards', { guards: [] }],
]
for (const [at, [name, options]] of nonsense.entries()) {
  test(`nonsense is refused: ${name} (${at})`, () => {
    assert.throws(
      () => kit.app().register(debug, options as DebugOptions),
      (error: VolantError) => error.code === 'E_BAD_OPTION' && error.message.includes(name),
    )
  })
}

test('a guard that is no function is refused', () => {
  assert.throws(
    () => kit.app().register(debug, { guard: 'admin' } as unknown as DebugOptions),
    (error: VolantError) => error.code === 'E_BAD_HANDLER',
  )
})
