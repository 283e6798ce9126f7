import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { eventually, testClock, turns } from '@volant/test-kit'
import { workersBus } from 'volant/bus'
import { WebSocket } from 'ws'
import { type App, createApp } from '../../src/index.ts'
import { Ear } from './hub.ts'
import { FakeSupervisor } from '../fake-supervision.ts'

const report = (error: unknown): void => assert.fail(String(error))

describe('a bus between workers', () => {
  test('passes what one publishes to the others, in its order, and to no publisher twice', async () => {
    const supervisor = new FakeSupervisor(3)
    const workers = [0, 1, 2].map((slot) => supervisor.start(slot))
    const buses = workers.map((worker) => worker.run(() => workersBus({ report })))
    const ears = buses.map(() => new Ear())
    buses.forEach((bus, at) => bus.subscribe('news', ears[at] as Ear))
    await Promise.all(buses.map((bus) => bus.ready('news')))
    for (let each = 0; each < 50; each++) buses[0]?.publish('news', String(each))
    buses[0]?.publish('news', new Uint8Array([0xff]))
    await eventually(() => ears.every(({ heard }) => heard.length === 51), 'all hear all')
    const sent = [...Array.from({ length: 50 }, (_, at) => String(at)), Buffer.from([0xff])]
    for (const { heard, gaps } of ears) assert.deepEqual([heard, gaps], [sent, []])
    await Promise.all(buses.map((bus) => bus.close()))
    assert.deepEqual(
      workers.map(({ asked }) => asked),
      workers.map(() => ['+ volant-bus:t:news', '- volant-bus:t:news']),
    )
  })

  test('has no gap where a worker dies, is replaced, or comes late', async () => {
    const supervisor = new FakeSupervisor(2)
    const [first, other] = [supervisor.start(0), supervisor.start(1)]
    const near = first.run(() => workersBus({ report }))
    const far = other.run(() => workersBus({ report }))
    const ear = new Ear()
    far.subscribe('t', ear)
    await far.ready('t')
    for (const each of ['1', '2', '3']) near.publish('t', each)
    await eventually(() => ear.heard.length === 3, 'they arrive')
    near.publish('t', 'on its way')
    supervisor.kill(first)
    const next = supervisor.start(0).run(() => workersBus({ report }))
    const late = new Ear()
    next.subscribe('t', late)
    await next.ready('t')
    next.publish('t', '4')
    far.publish('t', '5')
    await eventually(() => ear.heard.includes('4') && late.heard.includes('5'), 'both hear')
    assert.deepEqual([ear.gaps, late.gaps], [[], []])
    await Promise.all([far.close(), next.close()])
  })

  test('tells a gap where the supervisor did not take a message', async () => {
    const supervisor = new FakeSupervisor(2)
    const [first, other] = [supervisor.start(0), supervisor.start(1)]
    const reports: unknown[] = []
    const near = first.run(() => workersBus({ report: (error) => void reports.push(error) }))
    const far = other.run(() => workersBus({ report }))
    const ear = new Ear()
    far.subscribe('t', ear)
    await far.ready('t')
    near.publish('t', '1')
    first.onPublish = () => {
      throw new Error('the channel is closed')
    }
    near.publish('t', '2')
    first.onPublish = () => {}
    near.publish('t', '3')
    await eventually(() => ear.heard.includes('3'), 'the third arrives')
    assert.deepEqual([ear.heard, ear.lost], [['1', '3'], ['missing 1']])
    assert.match(String(reports[0]), /the server of the bus fails \(the channel is closed\)/)
    await Promise.all([near.close(), far.close()])
  })

  test('asks the supervisor once for a channel that two buses of a worker have, and again where it failed', async (t) => {
    const clock = testClock(t)
    const supervisor = new FakeSupervisor(2)
    const worker = supervisor.start(0)
    const reports: unknown[] = []
    const options = { report: (error: unknown) => void reports.push(error) }
    const [one, two] = worker.run(() => [workersBus(options), workersBus(options)])
    const [ear, second] = [new Ear(), new Ear()]
    worker.onSubscribe = () => Promise.reject(new Error('not now'))
    one.subscribe('t', ear)
    await one.ready('t')
    worker.onSubscribe = () => Promise.resolve()
    two.subscribe('t', second)
    await two.ready('t')
    await eventually(() => worker.asked.length === 2, 'it is asked again')
    one.publish('t', 'here')
    await eventually(() => second.heard.length === 1, 'the bus beside it hears')
    // The first bus asks again after a second, and finds the channel there.
    await clock.advance(999)
    await turns()
    assert.equal(ear.gaps.length, 0)
    await clock.advance(1)
    await eventually(() => ear.gaps.length === 1, 'the first is back')
    two.publish('t', 'there')
    await eventually(() => ear.heard.includes('there'), 'it hears')
    await one.close()
    two.publish('t', 'still')
    await eventually(() => second.heard.includes('still'), 'the other one goes on')
    await two.close()
    assert.deepEqual(worker.asked, ['+ volant-bus:t:t', '+ volant-bus:t:t', '- volant-bus:t:t'])
    assert.equal(reports.length, 1)
  })

  test('stays in the process that has no supervisor, and reaches its own buses there', async () => {
    const [one, two, apart] = [workersBus(), workersBus(), workersBus({ nameSpace: 'other' })]
    const [ear, elsewhere] = [new Ear(), new Ear()]
    two.subscribe('t', ear)
    apart.subscribe('t', elsewhere)
    await two.ready('t')
    one.publish('t', 'a')
    await eventually(() => ear.heard.length === 1, 'it arrives')
    assert.deepEqual([ear.heard, elsewhere.heard, one.stats().connected], [['a'], [], true])
    await Promise.all([one.close(), two.close(), apart.close()])
  })

  test('refuses options that it does not have', () => {
    assert.throws(() => workersBus({ nameSpace: 'a b' }), /workersBus: nameSpace takes/)
    assert.throws(() => workersBus({ server: 'x' } as never), { code: 'E_BAD_OPTION' })
  })
})

describe('an app that was given no bus', () => {
  const plain = { signals: false, log: false } as const
  const hasBus = (app: App): boolean => app.stats().bus !== undefined

  test('has one between workers where there are several', async () => {
    const supervisor = new FakeSupervisor(2)
    const apps = supervisor.start(0).run(() => [createApp(plain), createApp({ ...plain, bus: false })])
    const alone = new FakeSupervisor(1).start(0).run(() => createApp(plain))
    assert.deepEqual([...apps, alone, createApp(plain)].map(hasBus), [true, false, false, false])
    await Promise.all([...apps, alone].map((app) => app.close()))
  })

  test('has one of its own: what it publishes reaches its WebSockets in other workers, and no other app', async () => {
    const supervisor = new FakeSupervisor(2)
    const make = (): App => {
      const app = createApp({ ...plain, adapter: { type: 'node-http' } })
      app.ws('/', {
        open: (ws) => {
          ws.subscribe('t')
          ws.send('open')
        },
      })
      return app
    }
    const workers = [0, 1].map((slot) => supervisor.start(slot).run(() => [make(), make()]))
    const apps = workers.flat()
    const clients: { socket: WebSocket; heard: string[] }[] = []
    try {
      for (const app of apps) {
        const { url } = await app.listen({ port: 0, host: '127.0.0.1' })
        const socket = new WebSocket(url.replace('http', 'ws'))
        const heard: string[] = []
        socket.on('message', (data: Buffer) => void heard.push(String(data)))
        clients.push({ socket, heard })
      }
      await eventually(() => clients.every(({ heard }) => heard.length === 1), 'all are open')
      await eventually(() => apps.every((app) => app.stats().bus?.topics === 1), 'all are subscribed')
      apps[0]?.publish('t', 'of the first')
      apps[3]?.publish('t', 'of the second')
      await eventually(() => clients.every(({ heard }) => heard.length === 2), 'all have heard')
      const words = clients.map(({ heard }) => heard.slice(1))
      assert.deepEqual(words, [['of the first'], ['of the second'], ['of the first'], ['of the second']])
    } finally {
      for (const { socket } of clients) socket.terminate()
      await Promise.all(apps.map((app) => app.close({ drainIdle: 0 })))
    }
  })
})
