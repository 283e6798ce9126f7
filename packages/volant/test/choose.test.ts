import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chooseAdapter } from '../src/adapters/choose.ts'
import { nativeAdapter } from '../src/adapters/native.ts'
import { nodeHttpAdapter } from '../src/adapters/node-http.ts'
import { resolveLimits } from '../src/options/limits.ts'
import { createApp, VolantError } from '../src/index.ts'

const limits = resolveLimits(undefined, false)

test('native by default where it loads; else node:http, and one line on stderr says why', () => {
  const native = nativeAdapter()
  const lines: string[] = []
  const write = process.stderr.write
  process.stderr.write = ((text: string) => lines.push(text) > 0) as typeof write
  try {
    const first = chooseAdapter(undefined, limits)
    const second = chooseAdapter(undefined, limits)
    assert.equal(first.name, second.name)
    if ('adapter' in native) {
      assert.equal(first.name, 'native')
      assert.deepEqual(lines, [])
    } else {
      assert.equal(first, nodeHttpAdapter)
      assert.deepEqual(lines, [`volant: running on node:http, because ${native.reason}\n`])
      assert.throws(
        () => createApp({ adapter: { type: 'native' } }),
        (error: VolantError) => error.code === 'E_ADAPTER',
      )
    }
  } finally {
    process.stderr.write = write
  }
})

test('node-http when asked for', () => {
  assert.equal(createApp({ adapter: { type: 'node-http' } }).adapterName, 'node-http')
})
