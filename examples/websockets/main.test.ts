import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { eventually } from '@volant/test-kit'
import { WebSocket } from 'ws'

process.env.PORT = '0'
const { app, chat, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))

async function cookieOf(name: string): Promise<string> {
  const reply = await fetch(`${url}/name`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name }),
  })
  return (reply.headers.get('set-cookie') ?? '').split(';')[0] as string
}

/** Opens a WebSocket, and collects what it gets as `from: text`. */
async function enter(room: string, cookie: string) {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/rooms/${room}`, { headers: { cookie } })
  const got: string[] = []
  socket.on('message', (data: Buffer) => {
    const { from, text } = JSON.parse(data.toString()) as { from: string; text: string }
    got.push(`${from}: ${text}`)
  })
  const status = await new Promise<number>((resolve, reject) => {
    socket.on('open', () => resolve(101))
    socket.on('unexpected-response', (_, reply) => resolve(reply.statusCode ?? 0))
    socket.on('error', reject)
  })
  return { socket, got, status, say: (text: string) => socket.send(JSON.stringify({ text })) }
}

test('a room hears what is said in it, and nobody else does', async () => {
  const ada = await enter('lobby', await cookieOf('ada'))
  await eventually(() => ada.got.length === 1, 'her own arrival')
  const bob = await enter('lobby', await cookieOf('bob'))
  const eve = await enter('cellar', await cookieOf('eve'))
  await eventually(() => ada.got.length === 2 && eve.got.length === 1, 'the others')
  ada.say('hello')
  await fetch(`${url}/rooms/lobby/announcements`, { method: 'POST', body: 'tea is ready' })
  await eventually(() => bob.got.length === 3, 'both messages')
  assert.deepEqual(bob.got.toSorted(), ['ada: hello', 'bob: is here', 'the server: tea is ready'])
  bob.socket.close()
  await eventually(() => ada.got.includes('bob: has left'), 'his departure')
  assert.deepEqual(eve.got, ['eve: is here'])
  ada.socket.terminate()
  eve.socket.terminate()
})

test('without a name there is no WebSocket, and a message of another shape ends it', async () => {
  assert.equal((await enter('lobby', '')).status, 401)
  const mallory = await enter('lobby', await cookieOf('mallory'))
  const closed = new Promise((resolve) => mallory.socket.on('close', resolve))
  mallory.say('')
  assert.equal(await closed, 1008)
  assert.throws(() => chat.publish('room/lobby', { from: 'x' } as never), { code: 'E_RESPONSE_INVALID' })
})

test('the page is served', async () => {
  assert.match(await (await fetch(url)).text(), /new WebSocket\('\/rooms\/lobby'\)/)
})
