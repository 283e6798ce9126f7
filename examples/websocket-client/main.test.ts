import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { eventually } from '@volant/test-kit'
import { WebSocket } from 'ws'
import { join, show, texts } from './client.ts'

process.env.PORT = '0'
const { app, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))

test('members of a room see what is said in it', async () => {
  const ada = join(url, 'a', () => 'token-of-ada', WebSocket)
  const bob = join(url, 'a', () => 'token-of-bob', WebSocket)
  const eve = join(url, 'b', () => 'token-of-eve', WebSocket)
  const lines: string[] = []
  show(bob, (line) => void lines.push(line))
  const heard = texts(eve)
  await eventually(() => [ada, bob, eve].every(({ state }) => state === 'open'), 'all are there')
  ada.send({ kind: 'typing' })
  ada.send({ kind: 'say', text: 'hello' })
  await eventually(() => lines.length === 3, 'both messages come')
  assert.deepEqual(lines, ['joined', 'ada is typing', `ada: hello (${new Date().getFullYear()})`])
  for (const each of [ada, bob, eve]) each.close()
  await bob.closed
  assert.deepEqual(await heard, [])
  assert.equal(lines.at(-1), 'left (1000)')
})

test('without a token there is no socket, and no further attempt', async () => {
  const stranger = join(url, 'a', () => 'none', WebSocket)
  const lines: string[] = []
  show(stranger, (line) => void lines.push(line))
  stranger.send({ kind: 'typing' })
  await stranger.closed
  assert.match(lines[1] ?? '', /^chat: no connection to .*: Unexpected server response: 401$/)
  assert.deepEqual([lines[0], ...lines.slice(2)], ['1 not sent', 'left (1006)'])
})
