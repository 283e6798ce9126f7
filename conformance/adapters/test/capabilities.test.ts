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

test('native lacks nothing the contract asks for, and node-http WebSockets over HTTP/2 alone', () => {
  assert.deepEqual([lackedBy('native'), Object.keys(lackedBy('node-http'))], [{}, ['http2-sockets']])
})
