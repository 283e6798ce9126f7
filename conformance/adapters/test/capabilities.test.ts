import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { lackedBy } from '../src/capabilities.ts'

test('docs/adapters.md lists what uwebsockets lacks, and nothing else', () => {
  const page = readFileSync(new URL('../../../../docs/adapters.md', import.meta.url), 'utf8')
  const rows = page.slice(page.indexOf('\n## uWebSockets.js\n')).matchAll(/^\| `([^`]+)` \| (.*) \|$/gm)
  const listed = Object.fromEntries([...rows].map(([, name, why]) => [name, why]))
  assert.deepEqual(listed, { ...lackedBy('uwebsockets') })
})

test('native and node-http lack nothing the contract asks for', () => {
  assert.deepEqual([lackedBy('native'), lackedBy('node-http')], [{}, {}])
})
