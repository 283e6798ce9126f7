import assert from 'node:assert/strict'
import { after, test } from 'node:test'

process.env.PORT = '0'
const { app, url, notes } = await import('./main.ts')
const { createApp } = await import('volant')
after(() => app.close({ drainIdle: 0 }))

test('routes of a plugin', async () => {
  assert.equal(await (await fetch(`${url}/notes/first`)).text(), 'remember the milk')
  assert.equal((await fetch(`${url}/notes/none`)).status, 404)
})

test('a plugin that fails is why the app does not start', async () => {
  const broken = createApp()
  broken.register(async () => {
    throw new Error('no database')
  })
  await assert.rejects(broken.listen(0), /no database/)
})

test('the store is closed with the app', async () => {
  const other = createApp()
  other.register(notes, { seed: { a: 'b' } })
  assert.equal((await other.inject('/notes/a')).text(), 'b')
  await other.close({ drainIdle: 0 })
})
