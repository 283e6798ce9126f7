/** The chat over sockets: who gets in, what is refused, rooms, and two processes that share a Redis. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, describe, test } from 'node:test'
import { eventually, freePort, RedisServer, withoutRedis } from '@volant/test-kit'
import { WebSocket } from 'ws'
import { Process, type Seat, Visitor } from './processes.ts'

describe('one process without Redis', () => {
  let chat: Process
  let ada: Visitor
  before(async () => {
    chat = await Process.start()
    ada = await new Visitor(chat.url).signIn('ada')
  })
  after(() => chat.end('SIGKILL'))

  const dial = (path: string, headers: Record<string, string>) =>
    new WebSocket(chat.url.replace('http', 'ws') + path, { headers })
  const refusal = async (path: string, headers: Record<string, string>): Promise<number | undefined> => {
    const socket = dial(path, headers)
    socket.on('error', () => {})
    const [, reply] = (await once(socket, 'unexpected-response')) as [unknown, { statusCode?: number }]
    socket.terminate()
    return reply.statusCode
  }

  test('a WebSocket is for members, on pages of this origin, in rooms that exist', async () => {
    const { cookie } = ada
    assert.equal(await refusal('/api/rooms/lobby', { origin: chat.url }), 401)
    assert.equal(await refusal('/api/rooms/lobby', { origin: 'https://elsewhere.example', cookie }), 403)
    assert.equal(await refusal('/api/rooms/cellar', { origin: chat.url, cookie }), 400)
    const socket = dial('/api/rooms/lobby', { origin: chat.url, cookie })
    await once(socket, 'open')
    socket.terminate()
  })

  test('a name is for who took it first', async () => {
    const other = new Visitor(chat.url)
    const reply = await other.client.session.signIn({ body: { name: 'ada', password: 'not her password' } })
    assert.equal(reply.ok === false && reply.code, 'WRONG_PASSWORD')
    assert.equal((await other.signIn('bob')).cookie.length > 0, true)
    assert.equal((await other.client.session.read()).ok, true)
    assert.equal((await other.client.session.signOut()).ok, true)
    other.cookie = ''
    const { status } = await fetch(`${chat.url}/api/rooms/lobby/messages`)
    assert.equal(status, 401)
  })

  test('a message that is none ends the connection, and a long one', async () => {
    for (const [message, code] of [
      ['{"type":"shout"}', 1008],
      ['{"type":"say","key":"1","text":"hi"}', 1008],
      ['hi', 1007],
      [Buffer.from('{"type":"typing"}'), 1003],
      ['x'.repeat(16_385), 1009],
    ] as const) {
      const socket = dial('/api/rooms/lobby', { origin: chat.url, cookie: ada.cookie })
      await once(socket, 'open')
      socket.send(message)
      assert.equal((await once(socket, 'close'))[0], code, String(message).slice(0, 40))
    }
  })

  test('rooms are apart, a message is kept once, and who writes too fast is told', async () => {
    const bob = await new Visitor(chat.url).signIn('bob')
    const one = await ada.enter('garden').sees('ada')
    const two = await bob.enter('garden').sees('ada+bob')
    const three = await bob.enter('kitchen').sees('bob')
    const key = one.say('to the garden')
    await two.hears('ada: to the garden')
    one.heard.length = 0
    one.say('again', key)
    await eventually(() => one.heard.some(({ type }) => type === 'catch up'), 'the repetition is told of')
    one.socket.send({ type: 'typing' })
    await eventually(() => two.heard.some(({ type }) => type === 'typing'), 'typing is shown')
    assert.equal(
      one.heard.some(({ type }) => type === 'typing'),
      false,
    )
    for (let i = 0; i < 60; i++) three.say(`${i}`)
    await eventually(() => three.heard.some(({ type }) => type === 'refused'), 'too much is refused')
    const reply = await ada.client.rooms.messages({ params: { room: 'garden' } })
    assert.deepEqual(reply.ok && reply.data.map(({ id, by, text }) => [id, by, text]), [
      [1, 'ada', 'to the garden'],
    ])
    assert.deepEqual(two.texts, ['ada: to the garden'])
    await Promise.all([one, two, three].map((seat) => seat.leave()))
  })

  test('the last fifty messages are kept', async () => {
    const seats: Seat[] = []
    for (let name = 0; name < 4; name++) {
      const visitor = await new Visitor(chat.url).signIn(`member ${name}`)
      const seat = visitor.enter('lobby')
      seats.push(seat)
      await eventually(() => seat.opened === 1, 'it is open')
      for (let i = 0; i < 15; i++) seat.say(`${name}.${i}`)
      await seat.hears(`member ${name}: ${name}.14`)
    }
    const reply = await ada.client.rooms.messages({ params: { room: 'lobby' } })
    assert.ok(reply.ok)
    assert.deepEqual(
      reply.data.map(({ id }) => id),
      Array.from({ length: 50 }, (_, i) => 11 + i),
    )
    await Promise.all(seats.map((seat) => seat.leave()))
  })
})

describe('two processes', { skip: withoutRedis }, () => {
  let redis: RedisServer
  let first: Process
  let second: Process
  before(async () => {
    redis = await (await RedisServer.make()).start()
    const url = `redis://127.0.0.1:${redis.port}`
    ;[first, second] = await Promise.all([Process.start(url), Process.start(url)])
  })
  after(async () => {
    await Promise.all([first?.end('SIGKILL'), second?.end('SIGKILL')])
    await redis.end()
  })

  test('members of both hear and see each other, and one that is stopped is come back to', async () => {
    const ada = await new Visitor(first.url).signIn('ada')
    const ida = await new Visitor(second.url).signIn('ida')
    const one = ada.enter('lobby')
    const two = await ida.enter('lobby').sees('ada+ida')
    await one.sees('ada+ida')
    one.say('over there?')
    await two.hears('ada: over there?')
    two.say('here')
    await one.hears('ida: here')

    assert.equal(await first.end('SIGTERM'), 0)
    // The end of the process may be told before that of its connection.
    await eventually(() => one.codes.length > 0, 'the WebSocket is closed')
    assert.deepEqual(one.codes, [1001])
    await two.sees('ida')
    two.say('while you were away')
    await two.hears('ida: while you were away')
    await first.start()
    await eventually(() => one.opened === 2, 'it is connected again')
    await one.sees('ada+ida')
    // The session outlived the process, and what was missed is there by its number.
    const reply = await ada.client.rooms.messages({ params: { room: 'lobby' } })
    assert.deepEqual(reply.ok && reply.data.map(({ id, text }) => [id, text]), [
      [1, 'over there?'],
      [2, 'here'],
      [3, 'while you were away'],
    ])
    one.say('back')
    await two.hears('ada: back')
    await Promise.all([one.leave(), two.leave()])
  })

  test('where both listen at one port, a WebSocket of one that is stopped goes to the other', async () => {
    const port = await freePort()
    const both = await Promise.all([Process.start(first.redis, port), Process.start(first.redis, port)])
    const ada = await new Visitor(both[0].url).signIn('ada')
    const seat = await ada.enter('garden').sees('ada')
    for (const process of both) {
      assert.equal(await process.end('SIGTERM'), 0)
      const text = `not at ${both.indexOf(process)}`
      seat.say(text)
      await eventually(
        () => seat.codes.length > 0 || seat.texts.includes(`ada: ${text}`),
        'it is closed, or was at the other',
      )
      if (seat.codes.length > 0) break
      await process.start()
    }
    assert.deepEqual(seat.codes, [1001])
    await eventually(() => seat.opened === 2, 'it is at the other')
    seat.say('still here')
    await seat.hears('ada: still here')
    await seat.leave()
    await Promise.all(both.map((process) => process.end('SIGKILL')))
  })

  test('signing out closes all WebSockets of the session, at whichever process', async () => {
    const ada = await new Visitor(first.url).signIn('ada')
    const elsewhere = new Visitor(second.url)
    elsewhere.cookie = ada.cookie
    const [one, two] = [await ada.enter('garden').sees('ada'), await elsewhere.enter('garden').sees('ada')]
    await elsewhere.client.session.signOut()
    for (const seat of [one, two]) assert.equal((await seat.socket.closed).code, 4401)
  })

  test('without Redis nothing is kept, everybody stays connected, and afterwards pages ask anew', async () => {
    const ada = await new Visitor(first.url).signIn('ada')
    const seat = await ada.enter('kitchen').sees('ada')
    await redis.kill()
    seat.heard.length = 0
    const key = seat.say('lost')
    await eventually(
      () => seat.heard.some((each) => each.type === 'refused' && each.key === key),
      'it is refused',
    )
    await redis.start()
    await eventually(() => seat.heard.some(({ type }) => type === 'catch up'), 'something may be missing')
    // The connection that sends may be there a little later than the one that receives.
    const refused = () => seat.heard.filter(({ type }) => type === 'refused').length
    await eventually(
      async () => {
        const before = refused()
        seat.say('found', key)
        await eventually(() => seat.texts.includes('ada: found') || refused() > before, 'there is an answer')
        return seat.texts.includes('ada: found')
      },
      'it is kept',
      50,
    )
    assert.equal(seat.opened, 1)
    await seat.leave()
  })
})
