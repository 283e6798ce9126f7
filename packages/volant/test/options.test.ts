import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type AppOptions, createApp, limitTable, type VolantError } from 'volant'
import { Kit } from './kit.ts'

const kit = new Kit()

describe('options', () => {
  const refused = (limits: unknown, name: string) =>
    assert.throws(
      () => kit.app({ limits } as AppOptions),
      (error: VolantError) => error.code === 'E_BAD_OPTION' && error.message.includes(name),
    )

  for (const row of limitTable) {
    test(`limits.${row.name}: nonsense is refused by name, sense is taken`, () => {
      const nonsense = [
        NaN,
        -1,
        -0.5,
        Infinity,
        -Infinity,
        1.5,
        '10',
        '',
        '1mb',
        null,
        true,
        {},
        [],
        10n,
        row.max + 1,
      ]
      for (const value of nonsense) refused({ [row.name]: value }, `limits.${row.name}`)
      if (row.min > 1) refused({ [row.name]: row.min - 1 }, `limits.${row.name}`)
      if (row.zeroMeansOff || row.min === 0) kit.app({ limits: { [row.name]: 0 } })
      else refused({ [row.name]: 0 }, `limits.${row.name}`)
      kit.app({ limits: { [row.name]: row.default } })
      kit.app({ limits: { [row.name]: undefined } })
    })
  }

  test('unknown names are refused', () => {
    refused({ maxBody: 1 }, 'limits has no option "maxBody"')
    refused({ __proto__: null, toString: 1 }, 'limits has no option "toString"')
    assert.throws(() => createApp({ limit: {} } as AppOptions), /limit/)
    refused(5, 'limits')
  })

  const contradictions: [string, Record<string, number>][] = [
    ['maxHeaderLine', { maxHeaderLine: 9_000, maxHeaderSize: 8_000 }],
    ['maxUrlLength', { maxUrlLength: 9_000, maxHeaderSize: 8_000 }],
    ['maxParamLength', { maxParamLength: 300, maxUrlLength: 200 }],
    ['maxBodySize', { maxBodySize: 5_000, maxBufferedBodies: 4_000 }],
    ['headersTimeout', { headersTimeout: 6_000, requestTimeout: 5_000 }],
    ['maxChunkExtensions', { maxChunkExtensions: 2_000, maxChunkExtensionsTotal: 1_000 }],
  ]
  for (const [name, limits] of contradictions) {
    test(`${name} that contradicts another limit is refused`, () => refused(limits, `limits.${name}`))
  }

  test('a default follows the limit around it', () => {
    kit.app({ limits: { maxHeaderSize: 4_096 } })
    kit.app({ limits: { requestTimeout: 5_000 } })
    kit.app({ limits: { maxBodySize: 2 ** 30 } })
  })

  const routeOptions: [string, object][] = [
    ['maxBodySize', { maxBodySize: NaN }],
    ['maxBodySize', { maxBodySize: '1mb' }],
    ['maxBodySize', { maxBodySize: -1 }],
    ['maxBodySize', { maxBodySize: Infinity }],
    ['maxBodySize', { maxBodySize: 2 ** 30 }],
    ['bodyMode', { bodyMode: 'streams' }],
    ['beforeBody', { beforeBody: true }],
    ['beforeBody', { beforeBody: () => 1, bodyMode: 'stream' }],
    ['bodySize', { bodySize: 1 }],
  ]
  for (const [name, given] of routeOptions) {
    test(`the route option ${JSON.stringify(given)} is refused`, () => {
      assert.throws(
        () => kit.app().post('/x', given, () => 1),
        (error: VolantError) => error.code === 'E_BAD_OPTION' && error.message.includes(name),
      )
    })
  }

  test('handlers that are no functions are refused', () => {
    const app = kit.app()
    const get = app.get as unknown as (...args: unknown[]) => void
    for (const args of [['/x'], ['/x', 5], ['/x', null], ['/x', {}], ['/x', () => 1, 'no']]) {
      assert.throws(
        () => get(...args),
        (error: VolantError) => error.code === 'E_BAD_HANDLER',
        JSON.stringify(args),
      )
    }
    assert.throws(() => (app.use as unknown as (x: unknown) => void)({}), /middleware/)
  })

  test('other options are checked too', () => {
    for (const given of [
      { adapter: { type: 'fast' } },
      { adapter: 'native' },
      { signals: 1 },
      { router: { caseSensitive: 'no' } },
      { report: 1 },
      { trustProxy: 'yes' },
    ]) {
      assert.throws(
        () => createApp(given as AppOptions),
        (error: VolantError) => error.code === 'E_BAD_OPTION',
        JSON.stringify(given),
      )
    }
  })
})
