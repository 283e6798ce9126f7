import assert from 'node:assert/strict'
import { constants } from 'node:buffer'
import { test } from 'node:test'
import * as z from 'zod'
import { createApp, limitTable } from '../src/index.ts'
import { foreignNames } from '../src/options/foreign-names.ts'

const app = () => createApp({ signals: false })
/** Registers options that the types refuse. */
const ws = (options: unknown): unknown =>
  (app().ws as (path: string, options: unknown) => unknown)('/a', options)

test('paths of WebSockets conflict with each other alone', () => {
  const one = app()
  one.get('/a/:id', () => 'a')
  one.ws('/a/:id', {})
  assert.throws(() => one.ws('/a/:other', {}), { code: 'E_ROUTE_CONFLICT' })
  one.ws('/a/b', {})
  assert.throws(() => one.ws('a', {}), { code: 'E_ROUTE_PATTERN' })
})

test('names of other libraries are answered with ours', () => {
  for (const [name, hint] of Object.entries(foreignNames.webSocket)) {
    assert.throws(() => ws({ [name]: 1 }), {
      code: 'E_BAD_OPTION',
      message: new RegExp(hint.slice(0, 12).replace(/[.*+?^${}()|[\]\\]/g, '\\$&')),
    })
  }
})

test('options that make no sense are refused, and the error names them', () => {
  const wrong: [string, unknown][] = [
    ['origins', 'https://a.example'],
    ['origins', ['a.example']],
    ['origins', ['https://a.example/']],
    ['protocols', 'a'],
    ['protocols', ['a b']],
    ['compress', 1],
    ['compress', { threshold: -1 }],
    ['maxMessageSize', 0],
    ['maxMessageSize', 1.5],
    ['maxMessageSize', constants.MAX_STRING_LENGTH + 1],
    ['idleTimeout', 999],
    ['maxSocketBuffer', 1_023],
    ['whenFull', 'wait'],
    ['upgrade', {}],
    ['message', 'x'],
  ]
  for (const [name, value] of wrong)
    assert.throws(() => ws({ [name]: value }), {
      code: 'E_BAD_OPTION',
      message: new RegExp(`the WebSocket /a: ${name}`),
    })
  for (const name of ['in', 'out']) assert.throws(() => ws({ [name]: {} }), { code: 'E_BAD_SCHEMA' })
  for (const options of [undefined, null, 1, []]) assert.throws(() => ws(options), { code: 'E_BAD_OPTION' })
  assert.throws(() => ws(() => {}), { code: 'E_BAD_HANDLER', message: /has no options/ })
  const last = app().ws as (...given: unknown[]) => unknown
  assert.throws(() => last('/a', { message() {} }, () => {}), { code: 'E_BAD_HANDLER' })
})

test('the limits of a route are in the table, at its ends and one beyond', () => {
  for (const [option, name] of [
    ['maxMessageSize', 'maxMessageSize'],
    ['maxSocketBuffer', 'maxSocketBuffer'],
    ['idleTimeout', 'socketIdleTimeout'],
  ] as const) {
    const row = limitTable.find((each) => each.name === name)
    assert.ok(row)
    for (const value of [row.min, row.max]) ws({ [option]: value })
    for (const value of [row.min - 1, row.max + 1]) {
      if (value === 0 && row.zeroMeansOff) continue
      assert.throws(() => ws({ [option]: value }), { code: 'E_BAD_OPTION' })
    }
  }
})

test('a time that looks like seconds is refused, and the error has it in milliseconds', () => {
  for (const seconds of [1, 30, 120, 960]) {
    const message = new RegExp(
      `not ${seconds}: it is in milliseconds, and ${seconds} s are ${seconds * 1_000}$`,
    )
    assert.throws(() => ws({ idleTimeout: seconds }), { code: 'E_BAD_OPTION', message })
    assert.throws(() => createApp({ limits: { socketIdleTimeout: seconds } }), {
      code: 'E_BAD_OPTION',
      message,
    })
  }
  assert.throws(() => createApp({ limits: { headersTimeout: 10 } }), { message: /10 s are 10000$/ })
  for (const value of [-1, 0.5, 90_000_000])
    assert.throws(() => ws({ idleTimeout: value }), { message: new RegExp(`not ${value}$`) })
})

test('app.routes() has WebSockets, with their messages', () => {
  const one = app()
  const out = z.object({ a: z.string() })
  one.ws('/a', { out, protocols: ['v1'], summary: 'A chat' })
  const [route] = one.routes()
  assert.deepEqual([route?.method, route?.path, route?.summary], ['WS', '/a', 'A chat'])
  assert.deepEqual(
    [route?.messages?.in, route?.messages?.out, route?.messages?.protocols],
    [null, out, ['v1']],
  )
})

test('nothing is registered once the app has closed', async () => {
  const one = app()
  await one.close()
  assert.throws(() => one.ws('/a', {}), { code: 'E_STARTED' })
})
