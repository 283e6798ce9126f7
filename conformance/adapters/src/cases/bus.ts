/** Apps whose WebSockets share topics over a bus. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { WebSocket } from 'ws'
import { type App, createApp } from 'volant'
import { type Bus, type BusReceiver, memoryBus } from 'volant/bus'
import { metrics } from 'volant'
import { eventually, type Kit, stderrLines } from '../kit.ts'

/** A client that is subscribed to its topics. */
interface Client {
  readonly socket: WebSocket
  readonly heard: (string | Buffer)[]
  say(text: string): void
}

export function busCases(kit: Kit): void {
  describe('a bus', () => {
    /** Makes an app whose WebSockets subscribe to their path, and do as they are told. */
    const make = (bus: Bus | undefined): { app: App; publish: (topic: string, text: string) => void } => {
      const app = kit.app(bus === undefined ? {} : { bus })
      const route = app.ws('/:topic', {
        upgrade: (ctx) => ctx.params.topic,
        open: (ws) => {
          ws.subscribe(ws.data)
          ws.send('open')
        },
        message: (ws, message) => {
          const [what, text = ''] = String(message).split(' ')
          if (what === 'leave') ws.unsubscribe(ws.data)
          else if (what === 'bytes') ws.publish(ws.data, Buffer.from(text))
          else ws.publish(ws.data, text, { self: what === 'self' })
          ws.send('done')
        },
      })
      return { app, publish: (topic, text) => route.publish(topic, text) }
    }
    const connect = async (url: string, topic: string): Promise<Client> => {
      const socket = new WebSocket(`${url.replace('http', 'ws')}/${topic}`)
      const heard: (string | Buffer)[] = []
      socket.on('message', (data: Buffer, isBinary) => void heard.push(isBinary ? data : String(data)))
      await once(socket, 'open')
      await eventually(() => heard.length > 0, 'the topic is subscribed to')
      heard.length = 0
      return { socket, heard, say: (text) => socket.send(text) }
    }
    const listen = async (app: App): Promise<string> => (await app.listen({ port: 0, host: '127.0.0.1' })).url

    test('what is published by an app that is mounted in two others with one bus arrives once', async () => {
      const bus = memoryBus()
      const { app, publish } = make(undefined)
      const [one, two, apart] = [kit.app({ bus }), kit.app({ bus }), make(bus).app]
      for (const outer of [one, two]) outer.mount('/', app)
      const clients: Client[] = []
      try {
        for (const each of [one, two, apart]) clients.push(await connect(await listen(each), 'a'))
        publish('a', 'first')
        app.publish('a', 'here', { local: true })
        publish('a', 'last')
        await eventually(() => clients.every(({ heard }) => heard.includes('last')), 'they arrive')
        const heard = clients.map((each) => [...each.heard].sort())
        assert.deepEqual(heard, [
          ['first', 'here', 'last'],
          ['first', 'here', 'last'],
          ['first', 'last'],
        ])
      } finally {
        for (const { socket } of clients) socket.terminate()
        await Promise.all([one, two, apart].map((each) => each.close()))
      }
    })

    test('what app, route and WebSocket publish reaches the WebSockets of other apps once', async () => {
      const bus = memoryBus()
      const [one, two] = [make(bus), make(bus)]
      const [first, second] = [await listen(one.app), await listen(two.app)]
      try {
        const [own, near, far] = [
          await connect(first, 'a'),
          await connect(first, 'a'),
          await connect(second, 'a'),
        ]
        const other = await connect(second, 'b')
        one.app.publish('a', 'app')
        one.publish('a', 'route')
        one.app.publish('a', new Uint8Array([0xff]))
        one.app.publish('a', 'here', { local: true })
        await eventually(() => far.heard.length === 3 && own.heard.length === 4, 'they arrive')
        own.say('others x')
        own.say('self y')
        own.say('bytes z')
        await eventually(() => far.heard.length === 6 && own.heard.length === 8, 'they arrive')
        const published = ['app', 'route', Buffer.from([0xff])]
        assert.deepEqual(far.heard, [...published, 'x', 'y', Buffer.from('z')])
        assert.deepEqual(near.heard, [...published, 'here', 'x', 'y', Buffer.from('z')])
        assert.deepEqual(own.heard, [...published, 'here', 'done', 'y', 'done', 'done'])
        assert.deepEqual(other.heard, [])
      } finally {
        await Promise.all([one.app.close(), two.app.close()])
      }
    })

    test('the app is subscribed to a topic as long as one of its WebSockets is', async () => {
      const bus = memoryBus()
      const { app } = make(bus)
      const url = await listen(app)
      try {
        const [first, second] = [await connect(url, 'a'), await connect(url, 'a')]
        const third = await connect(url, 'b')
        assert.equal(app.stats().bus?.topics, 2)
        first.say('leave')
        third.say('leave')
        await eventually(() => bus.stats().topics === 1, 'the topic of nobody is left')
        second.socket.terminate()
        await eventually(() => bus.stats().topics === 0, 'closed WebSockets leave their topics')
      } finally {
        await app.close()
      }
    })

    test('an app that does not listen publishes to others, and so does a mounted one', async () => {
      const bus = memoryBus()
      const { app } = make(bus)
      const url = await listen(app)
      const job = createApp({ bus, signals: false })
      const outer = createApp({ bus, signals: false })
      const inner = createApp({ signals: false })
      outer.mount('/inner', inner)
      try {
        const { heard } = await connect(url, 'a')
        job.publish('a', 'job')
        inner.publish('a', 'inner')
        await eventually(() => heard.length === 2, 'both arrive')
        assert.deepEqual(heard, ['job', 'inner'])
      } finally {
        await Promise.all([app, job, outer].map((each) => each.close()))
      }
    })

    test('the last app closes the bus, and what is published while it closes still goes out', async () => {
      const bus = memoryBus()
      const [one, two] = [make(bus), make(bus)]
      two.app.onClosing(() => two.app.publish('a', 'bye'))
      const [first] = [await listen(one.app), await listen(two.app)]
      const { heard } = await connect(first, 'a')
      await two.app.close()
      await eventually(() => heard.length === 1, 'it arrives')
      one.app.publish('a', 'still open')
      await eventually(() => heard.length === 2, 'it arrives')
      await one.app.close()
      bus.publish('a', 'closed')
      assert.equal(bus.stats().published, 2)
    })

    test('a gap is told to the onGap hooks; without one, once on stderr', async () => {
      const receivers: BusReceiver[] = []
      const bus: Bus = {
        publish: () => {},
        subscribe: (_, receiver) => {
          receivers.push(receiver)
          return () => {}
        },
        ready: () => Promise.resolve(),
        stats: () => memoryBus().stats(),
        close: () => Promise.resolve(),
      }
      for (const hooked of [true, false]) {
        const { app } = make(bus)
        if (hooked) app.onGap(({ topic, lost }) => app.publish(topic, `lost ${lost}`, { local: true }))
        const url = await listen(app)
        try {
          const { heard } = await connect(url, 'a')
          const gap = { topic: 'a', publisher: null, lost: null, reason: 'reconnected' } as const
          const lines = await stderrLines(() => {
            receivers.at(-1)?.gap?.(gap)
            receivers.at(-1)?.gap?.({ ...gap, publisher: 'x', lost: 3, reason: 'missing' })
          })
          if (hooked) {
            await eventually(() => heard.length === 2, 'both are told')
            assert.deepEqual([heard, lines], [['lost null', 'lost 3'], []])
          } else {
            assert.equal(lines.length, 1)
            assert.match(
              lines[0] as string,
              /to the topic "a" were lost, or may have been, and no onGap hook/,
            )
          }
        } finally {
          await app.close()
        }
      }
    })

    test('a bus that throws keeps nobody from publishing here', async () => {
      const fails = (): never => {
        throw new Error('broken')
      }
      const { app } = make({
        publish: fails,
        subscribe: fails,
        stats: fails,
        ready: fails,
        close: fails,
      })
      const url = await listen(app)
      const lines = await stderrLines(async () => {
        const { heard, say } = await connect(url, 'a')
        app.publish('a', 'x')
        say('self y')
        await eventually(() => heard.length === 3, 'they arrive')
        assert.deepEqual(heard, ['x', 'y', 'done'])
      })
      assert.ok(lines.length >= 3 && lines.every((line) => line.includes('the bus threw')), lines.join('\n'))
      await assert.rejects(app.close(), /broken/)
    })

    test('metrics have the counters of the bus', async () => {
      const { app } = make(memoryBus())
      const meter = metrics()
      app.use(meter)
      app.get('/metrics', meter.handler)
      app.publish('a', 'x')
      const { body } = await app.inject('/metrics')
      assert.match(String(body), /^volant_bus_connected 1$/m)
      assert.match(String(body), /^volant_bus_published_total 1$/m)
      assert.match(String(body), /^volant_bus_lost_total 0$/m)
      const { app: without } = make(undefined)
      without.get('/metrics', meter.handler)
      assert.doesNotMatch(String((await without.inject('/metrics')).body), /volant_bus/)
    })

    test('what is no bus is refused', () => {
      assert.throws(
        () => kit.app({ bus: { publish() {} } as never }),
        /bus takes a bus, which has subscribe\(\)/,
      )
    })
  })
}
