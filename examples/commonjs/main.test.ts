import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { after, test } from 'node:test'
import type { Address, App } from 'volant'

process.env.PORT = '0'
const require = createRequire(import.meta.url)
const { app, listening } = require('../main.cjs') as { app: App; listening: Promise<Address> }
after(() => app.close({ drainIdle: 0 }))

test('it serves', async () => {
  const { url } = await listening
  assert.equal(await (await fetch(url)).text(), 'Hello from CommonJS')
})
