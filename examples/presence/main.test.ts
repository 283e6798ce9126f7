import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { after, before, describe, test } from 'node:test'
import { eventually, RedisServer, withoutRedis } from '@volant/test-kit'
import { memoryBus } from 'volant/bus'
import { WebSocket } from 'ws'
import { Presence } from './presence.ts'

test('members of two parts of one bus see each other, come and go', async () => {
  const bus = memoryBus()
  const seen: string[] = []
  // So long between heartbeats that nobody expires on a machine that is busy.
  const one = new Presence(bus, 't', 60_000, (members) => seen.push(members.join('+')))
  const two = new Presence(bus, 't', 60_000, () => {})
  try {
    one.join('ada')
    two.join('ida')
    two.join('ida')
    await eventually(() => seen.length === 2, 'both are there')
    two.leave('ida')
    assert.deepEqual(two.members, ['ada', 'ida'])
    two.leave('ida')
    await eventually(() => seen.length === 3, 'one has gone')
    assert.deepEqual(seen, ['ada', 'ada+ida', 'ada'])
  } finally {
    one.close()
    two.close()
  }
})

describe('two processes', { skip: withoutRedis }, () => {
  let redis: RedisServer
  const children: ChildProcess[] = []
  before(async () => {
    redis = await (await RedisServer.make()).start()
  })
  after(async () => {
    for (const child of children) child.kill('SIGKILL')
    await redis.end()
  })

  const start = async (): Promise<{ child: ChildProcess; url: string }> => {
    const env = { ...process.env, PORT: '0', HEARTBEAT: '200', REDIS_URL: `redis://127.0.0.1:${redis.port}` }
    const child = fork(new URL('./process.js', import.meta.url), { env, silent: true })
    children.push(child)
    const [url] = (await once(child, 'message')) as [string]
    return { child, url }
  }
  const enter = async (url: string, name: string): Promise<{ socket: WebSocket; members: () => string }> => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/rooms/lobby?name=${name}`)
    let members = ''
    socket.on('message', (data) => {
      members = (JSON.parse(String(data)) as { members: string[] }).members.join('+')
    })
    await once(socket, 'open')
    return { socket, members: () => members }
  }

  test('members of both are seen; those of a process that died expire; a dead Redis is lived through', async () => {
    const [first, second] = [await start(), await start()]
    const ada = await enter(first.url, 'ada')
    const ida = await enter(second.url, 'ida')
    const joan = await enter(second.url, 'joan')
    for (const each of [ada, ida, joan])
      await eventually(() => each.members() === 'ada+ida+joan', 'all are seen')
    joan.socket.close()
    for (const each of [ada, ida]) await eventually(() => each.members() === 'ada+ida', 'one has left')
    await redis.kill()
    const kay = await enter(first.url, 'kay')
    await eventually(
      () => kay.members().includes('ada+') && ada.members().includes('kay'),
      'who is here is seen',
    )
    await redis.start()
    for (const each of [ada, ida, kay])
      await eventually(() => each.members() === 'ada+ida+kay', 'all are seen again')
    second.child.kill('SIGKILL')
    for (const each of [ada, kay])
      await eventually(() => each.members() === 'ada+kay', 'those who died have expired')
    first.child.send('end')
    await once(first.child, 'exit')
  })
})
