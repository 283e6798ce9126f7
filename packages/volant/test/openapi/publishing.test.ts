/** A document that is made once, and written in slices. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createApp, openapi, openapiOf, type Schema } from 'volant'
import { stringify } from 'yaml'
import { jsonOf, yamlOf } from '../../src/openapi/publish.ts'
import { everything } from './everything.ts'

const info = { title: 'Test', version: '1.0.0' }

describe('a document that is published', () => {
  const textOf = (steps: Generator<void, string>): string => {
    for (;;) {
      const step = steps.next()
      if (step.done === true) return step.value
    }
  }

  test('its texts, written in steps, are those of JSON.stringify and of yaml', () => {
    const app = everything()
    app.get('/lines', { description: 'One\n\n  two\n\nthree', tags: ['- x', 'null'] }, () => 'ok')
    for (const document of [
      openapiOf(app, {
        info,
        servers: [{ url: 'https://api.example' }],
        externalDocs: { url: 'https://a.example' },
      }),
      openapiOf(createApp({ signals: false }), { info }),
    ]) {
      assert.equal(textOf(jsonOf(document)), JSON.stringify(document))
      const options = { aliasDuplicateObjects: false, lineWidth: 0 }
      assert.equal(textOf(yamlOf(document, stringify)), stringify(document, options))
    }
  })

  test('it is made once for all who ask, and others are served meanwhile', async (t) => {
    let now = 0
    t.mock.method(performance, 'now', () => now)
    const app = createApp({ signals: false })
    app.register(openapi, { info })
    app.get('/ping', () => 'pong')
    let converted = 0
    // A conversion takes a millisecond: all of them take far longer than one slice.
    const slow = (): object => {
      converted++
      now++
      return { type: 'object', properties: {} }
    }
    const routes = 100
    for (let at = 0; at < routes; at++) {
      const schema = {
        '~standard': {
          version: 1,
          vendor: 'test',
          validate: (value: unknown) => ({ value }),
          jsonSchema: { input: slow, output: slow },
        },
      } as Schema
      app.get(`/${at}`, { response: schema }, () => ({}))
    }
    const order: string[] = []
    const ask = async (path: string): Promise<string> => {
      const { body } = await app.inject(path)
      order.push(path)
      return String(body)
    }
    await app.inject('/ping')
    const asked = ['/openapi.json', '/openapi.json', '/ping']
    const [first, second] = await Promise.all(asked.map(ask))
    assert.equal(first, second)
    assert.equal(converted, routes)
    assert.deepEqual(order, ['/ping', '/openapi.json', '/openapi.json'])
  })

  test('a document that cannot be made is tried again by the next request', async () => {
    const app = createApp({ signals: false, report: () => {} })
    let isWrong = true
    const include = (): boolean => {
      if (isWrong) throw new Error('not now')
      return true
    }
    app.get('/a', () => 'ok')
    isWrong = false
    app.register(openapi, { info, include })
    await app.inject('/a')
    isWrong = true
    assert.equal((await app.inject('/openapi.json')).status, 500)
    isWrong = false
    assert.equal((await app.inject('/openapi.json')).status, 200)
  })
})
