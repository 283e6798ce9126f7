/** Close while clients hold connections: who is still answered, what the replies say, and when it ends. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { App, VolantError } from 'volant'
import { deferred, eventually, type Kit, Live, request, within } from '../kit.ts'
import { Wire } from '../wire.ts'

/** Long enough that no case waits for it; a close that does fails. */
const long = 60_000
const get = request('GET', '/x')

/** Blocks the event loop, so that what comes meanwhile is not read. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

/** Opens `count` connections with a request on each while the event loop is blocked; gives what each receives. */
function connectMeanwhile(port: number, count: number): Promise<string[]> {
  const shared = new SharedArrayBuffer(4)
  const done = new Int32Array(shared)
  const worker = new Worker(
    `const { connect } = require('node:net')
     const { parentPort, workerData } = require('node:worker_threads')
     const { port, count, shared, get } = workerData
     const done = new Int32Array(shared)
     const texts = []
     for (let n = 0; n < count; n++) {
       let text = ''
       const socket = connect(port, '127.0.0.1', () => socket.write(get, () => {
         Atomics.add(done, 0, 1)
         Atomics.notify(done, 0)
       }))
       socket.setEncoding('latin1')
       socket.on('data', (part) => (text += part))
       socket.on('error', (error) => (text += error.code))
       socket.on('close', () => texts.push(text) === count && parentPort.postMessage(texts))
     }`,
    { eval: true, workerData: { port, count, shared, get: get.toString('latin1') } },
  )
  const texts = once(worker, 'message').then(([all]) => all as string[])
  for (let had = 0; had < count; had = Atomics.load(done, 0)) {
    assert.notEqual(Atomics.wait(done, 0, had, 30_000), 'timed-out', 'clients connect')
  }
  return texts
}

/** Resolves once the port accepts no connection. */
async function refused(live: Live): Promise<void> {
  for (;;) {
    try {
      const wire = await live.connect()
      wire.close()
    } catch {
      return
    }
    // A connection that was accepted holds the port open for a moment.
    await sleep(5)
  }
}

export function drain(kit: Kit): void {
  const appOf = (limits: { drainIdle?: number; drainTimeout?: number; shutdownTimeout?: number }): App => {
    const app = kit.app({ limits: { shutdownTimeout: long, ...limits } })
    app.get('/x', () => 'x')
    return app
  }
  const serve = async (app: App) => new Live(app, await app.listen(0, '127.0.0.1'))

  describe('draining', () => {
    test('idle connections stay, and their requests are answered with close', async () => {
      const app = appOf({ drainIdle: long })
      const live = await serve(app)
      const [served, fresh] = [await live.connect(), await live.connect()]
      assert.notEqual((await served.send(get).reply()).headers['connection'], 'close')
      await eventually(() => app.stats().connections === 2, 'both are accepted')
      const closing = app.close()
      await within(refused(live), 30_000, 'the port closes')
      for (const wire of [served, fresh]) {
        assert.equal(wire.isEnded, false)
        const reply = await wire.send(get).reply()
        assert.equal(reply.text, 'x')
        assert.equal(reply.headers['connection'], 'close')
        assert.equal(await wire.ended(), 'end')
        wire.close()
      }
      // Nothing is left, so it does not wait for the rest of `drainIdle`.
      await within(closing, 30_000, 'close')
    })

    test('without connections close ends at once, and a second close is the first', async () => {
      const app = appOf({ drainIdle: long })
      await serve(app)
      const closing = app.close()
      assert.equal(app.close({ drainIdle: 0 }), closing)
      await within(closing, 30_000, 'close')
    })

    test('connections that wait to be accepted are served', async () => {
      const app = appOf({ drainIdle: long })
      const { address } = await serve(app)
      const texts = connectMeanwhile(address.port as number, 100)
      const closing = app.close()
      for (const text of await within(texts, 30_000, 'replies')) {
        assert.match(text, /^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\nx$/)
        assert.match(text, /\r\nconnection: close\r\n/i)
      }
      await within(closing, 30_000, 'close')
    })

    test('an idle connection is read once more before it is closed', async () => {
      for (const drainIdle of [0, 30]) {
        const app = appOf({ drainIdle })
        const live = await serve(app)
        const [late, quiet] = [await live.connect(), await live.connect()]
        assert.equal((await late.send(get).reply()).text, 'x')
        await eventually(() => app.stats().connections === 2, 'both are accepted')
        // With 0 they are read when `close` is called, else when `drainIdle` is over.
        if (drainIdle === 0) late.send(get)
        const closing = app.close()
        if (drainIdle > 0) late.send(get)
        block(60)
        const reply = await late.reply()
        assert.equal(reply.headers['connection'], 'close')
        await late.ended()
        assert.equal(await quiet.ended(), 'end')
        late.close()
        quiet.close()
        await within(closing, 30_000, 'close')
      }
    })

    test(
      'a request that crosses the end is not run, and meets no reset',
      kit.needs('lingering'),
      async () => {
        const app = appOf({ drainIdle: 10 })
        let runs = 0
        app.get('/run', () => ++runs)
        const live = await serve(app)
        const wire = await live.connect()
        assert.equal((await wire.send(get).reply()).text, 'x')
        const closing = app.close()
        await wire.ended()
        let reset = false
        wire.socket.on('error', () => (reset = true))
        wire.send(request('GET', '/run')).socket.end()
        await within(closing, 30_000, 'close')
        assert.deepEqual([runs, reset], [0, false])
        wire.close()
      },
    )

    test('close({ drainIdle: 0 }) does not wait for idle connections', async () => {
      const app = appOf({ drainIdle: long })
      const live = await serve(app)
      const wires = [await live.connect(), await live.connect()]
      assert.equal((await wires[0]?.send(get).reply())?.text, 'x')
      // The clients do not close their side.
      await within(app.close({ drainIdle: 0 }), 30_000, 'close')
      for (const wire of wires) {
        assert.equal(await wire.ended(), 'end')
        wire.close()
      }
    })

    test('close refuses a drainIdle that makes no sense', async () => {
      const app = appOf({})
      for (const drainIdle of [-1, 0.5, Infinity, '0' as unknown as number]) {
        assert.throws(
          () => app.close({ drainIdle }),
          (error: VolantError) => error.code === 'E_BAD_OPTION' && error.message.startsWith('drainIdle '),
        )
      }
      assert.throws(
        () => app.close({ drainIdl: 0 } as {}),
        (error: VolantError) => error.code === 'E_BAD_OPTION' && error.message.includes('drainIdle'),
      )
      assert.equal(app.closing, false)
      await app.close('SIGTERM' as {})
    })

    test('the last reply of what was received says close', kit.needs('pipelining'), async () => {
      for (const wait of [false, true]) {
        const app = appOf({ drainIdle: long })
        const held = deferred()
        const entered = deferred()
        app.get('/held', async () => {
          entered.resolve()
          await held.promise
          return 'held'
        })
        app.post('/post', async (ctx) => {
          if (wait) await sleep(1)
          return ctx.bodyText
        })
        const live = await serve(app)
        const wire = await live.connect()
        // A POST waits for what is before it, and holds back what is behind it.
        const post = (text: string) => request('POST', '/post', { 'content-type': 'text/plain' }, text)
        wire.send(Buffer.concat([request('GET', '/held'), post('a'), get, post('b')]))
        await entered.promise
        const closing = app.close()
        held.resolve()
        const replies = [await wire.reply(), await wire.reply(), await wire.reply(), await wire.reply()]
        assert.deepEqual(
          replies.map(({ text, headers }) => [text, headers['connection'] === 'close']),
          [
            ['held', false],
            ['a', false],
            ['x', false],
            ['b', true],
          ],
        )
        await wire.ended()
        wire.close()
        await within(closing, 30_000, 'close')
      }
    })

    test(
      'requests that come together while it closes are all answered',
      kit.needs('pipelining'),
      async () => {
        const app = appOf({ drainIdle: long })
        const live = await serve(app)
        const wire = await live.connect()
        assert.equal((await wire.send(get).reply()).text, 'x')
        const closing = app.close()
        wire.send(Buffer.concat([get, get, get]))
        const says = [await wire.reply(), await wire.reply(), await wire.reply()].map(
          ({ headers }) => headers['connection'] === 'close',
        )
        assert.deepEqual(says, [false, false, true])
        await wire.ended()
        wire.close()
        await within(closing, 30_000, 'close')
      },
    )

    test('a stream that began before does not end its connection in silence', async () => {
      const app = appOf({ drainIdle: long })
      const go = deferred()
      app.get('/stream', async function* () {
        yield 'begun'
        await go.promise
        yield ' ended'
      })
      const live = await serve(app)
      const wire = await live.connect()
      wire.send(request('GET', '/stream'))
      await wire.until(() => (wire.received.includes('begun') ? true : undefined), 'the first chunk')
      const closing = app.close()
      go.resolve()
      const stream = await wire.reply()
      assert.equal(stream.text, 'begun ended')
      assert.notEqual(stream.headers['connection'], 'close')
      assert.equal((await wire.send(get).reply()).headers['connection'], 'close')
      await wire.ended()
      wire.close()
      await within(closing, 30_000, 'close')
    })

    test('a stream that began before is the last reply once drainIdle is over', async () => {
      const app = appOf({ drainIdle: 0 })
      const go = deferred()
      app.get('/stream', async function* () {
        yield 'begun'
        await go.promise
      })
      const live = await serve(app)
      const [wire, idle] = [await live.connect(), await live.connect()]
      assert.equal((await idle.send(get).reply()).text, 'x')
      wire.send(request('GET', '/stream'))
      await wire.until(() => (wire.received.includes('begun') ? true : undefined), 'the first chunk')
      const closing = app.close()
      if (kit.can('idle-connections')) await idle.ended()
      go.resolve()
      assert.equal((await wire.reply()).text, 'begun')
      assert.equal(await wire.ended(), 'end')
      wire.close()
      idle.close()
      await within(closing, 30_000, 'close')
    })

    test('a large reply that its client reads slowly is not cut', async () => {
      const app = appOf({ drainIdle: 0 })
      const size = 8 << 20
      app.get('/large', () => Buffer.alloc(size, 'l'))
      const live = await serve(app)
      const [wire, idle] = [await live.connect(), await live.connect()]
      wire.send(request('GET', '/large'))
      await wire.until(() => (wire.received.length > 0 ? true : undefined), 'the head')
      wire.socket.pause()
      const closing = app.close()
      if (kit.can('idle-connections')) await idle.ended()
      wire.socket.resume()
      assert.equal((await wire.reply()).body.length, size)
      wire.close()
      idle.close()
      await within(closing, 30_000, 'close')
    })

    test('half of a body is waited for, although idle connections are closed', async () => {
      const app = appOf({ drainIdle: 0 })
      app.post('/post', (ctx) => ctx.bodyText)
      const live = await serve(app)
      const [wire, idle] = [await live.connect(), await live.connect()]
      const post = request('POST', '/post', { 'content-type': 'text/plain' }, 'abcd')
      wire.send(post.subarray(0, -2))
      await eventually(() => app.stats().inFlight === 1 || kit.adapter === 'native', 'the head is read')
      await eventually(() => app.stats().connections === 2, 'both are accepted')
      const closing = app.close()
      if (kit.can('idle-connections')) await idle.ended()
      wire.send(post.subarray(-2))
      const reply = await wire.reply()
      assert.deepEqual([reply.text, reply.headers['connection']], ['abcd', 'close'])
      await wire.ended()
      wire.close()
      idle.close()
      await within(closing, 30_000, 'close')
    })

    test(
      'half of a head is waited for, although idle connections are closed',
      kit.needs('idle-connections'),
      async () => {
        for (const first of [true, false]) {
          const app = appOf({ drainIdle: 0 })
          const live = await serve(app)
          const [wire, idle] = [await live.connect(), await live.connect()]
          if (!first) assert.equal((await wire.send(get).reply()).text, 'x')
          wire.send(get.subarray(0, 10))
          await eventually(() => app.stats().connections === 2, 'both are accepted')
          const closing = app.close()
          await idle.ended()
          wire.send(get.subarray(10))
          const reply = await wire.reply()
          assert.deepEqual([reply.text, reply.headers['connection']], ['x', 'close'])
          await wire.ended()
          wire.close()
          idle.close()
          await within(closing, 30_000, 'close')
        }
      },
    )

    test('after Ctrl-C it says what it waits for, and a second one ends the process', async () => {
      const script = `
        import { createApp } from ${JSON.stringify(import.meta.resolve('volant'))}
        const app = createApp({
          adapter: { type: ${JSON.stringify(kit.adapter)} },
          startLine: false,
          limits: { drainIdle: ${long}, shutdownTimeout: ${long} },
        })
        console.log((await app.listen(0, '127.0.0.1')).port)`
      const child = spawn(process.execPath, ['--input-type=module', '-e', script])
      const exited = once(child, 'exit')
      const [line] = (await once(child.stdout, 'data')) as [Buffer]
      const wire = await Wire.open({ host: '127.0.0.1', port: Number(line), path: null, url: '' })
      assert.equal((await wire.send(get).reply()).status, 404)
      let said = ''
      child.stderr.on('data', (text) => (said += text))
      child.kill('SIGINT')
      await eventually(() => said.includes('\n'), 'the line')
      assert.match(
        said,
        /^volant: closing waits for a connection that is open: .* Ctrl-C again to end at once\n$/,
      )
      child.kill('SIGINT')
      assert.deepEqual(await within(exited, 30_000, 'the exit'), [null, 'SIGINT'])
      wire.close()
    })

    test('shutdownTimeout ends what drains, too', async () => {
      const app = appOf({ shutdownTimeout: 50 })
      const live = await serve(app)
      const wires = [await live.connect(), await live.connect()]
      assert.equal((await wires[0]?.send(get).reply())?.text, 'x')
      await within(app.close(), 30_000, 'close')
      for (const wire of wires) {
        await wire.ended()
        wire.close()
      }
    })

    test('shutdownTimeout 0 resets at once', async () => {
      let least = Infinity
      // A busy machine may be slow once, but not each time.
      for (let round = 0; round < 5 && least >= 900; round++) {
        // Without a short limit connections are looked at every second.
        const app = appOf({ shutdownTimeout: 0, drainTimeout: long })
        const entered = deferred()
        app.get('/never', () => {
          entered.resolve()
          return new Promise(() => {})
        })
        const live = await serve(app)
        const wire = await live.connect()
        wire.send(request('GET', '/never'))
        await entered.promise
        const start = performance.now()
        await within(app.close(), 30_000, 'close')
        least = Math.min(least, performance.now() - start)
        await wire.closed
        wire.close()
      }
      assert.ok(least < 900, `${least} ms`)
    })
  })
}
