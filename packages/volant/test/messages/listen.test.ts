import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Kit } from '../kit.ts'

const kit = new Kit()

describe('messages', () => {
  const listening: [RegExp, unknown][] = [
    [/^listen has no option "prot"; did you mean "port"\? It has: port, host, path,/, { prot: 1 }],
    [/^listen has no option "hostname"; did you mean "host"\?/, { hostname: 'localhost' }],
    [/^port takes an integer from 0 to 65535 \(is PORT set\?\), not NaN$/, Number.NaN],
    [/^port takes .*Number\(…\), not "3000"$/, '3000'],
  ]

  for (const [message, target] of listening) {
    test(`listen: ${message.source}`, () =>
      assert.rejects(kit.app().listen(target as never), { code: 'E_BAD_OPTION', message }))
  }

  const tls = { cert: 'x', key: 'y' }

  const behind: [string, unknown[]][] = [
    ['options behind a port', [0, { tls }]],
    ['options behind a host', [0, '127.0.0.1', { tls }]],
    ['options behind options', [{ port: 0 }, { tls }]],
    ['null for a host', [0, null]],
  ]

  for (const [what, given] of behind) {
    test(`listen refuses ${what}`, () =>
      assert.rejects(kit.app().listen(...(given as [number])), {
        code: 'E_BAD_OPTION',
        message: /^listen takes its options in one object, listen\(\{ port: 8443, tls \}\), and behind/,
      }))
  }

  const circle: Record<string, unknown> = { list: [1] }

  circle['self'] = { 'a b': [{ circle }] }

  let deep: unknown[] = []

  for (let level = 0; level < 50_000; level++) deep = [deep]
})
