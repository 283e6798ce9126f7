import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createApp } from 'volant'

process.env.PORT = '0'
process.env.ADAPTER = 'node-http'
const { app, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))

test('it runs on the adapter it was told to', async () => {
  assert.equal(await (await fetch(url)).text(), 'running on node-http')
})

test('an adapter that does not exist is refused', () => {
  assert.throws(() => createApp({ adapter: { type: 'h3' as 'native' } }), { code: 'E_BAD_OPTION' })
})
