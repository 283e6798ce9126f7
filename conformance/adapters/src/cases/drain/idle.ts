import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import type { VolantError } from 'volant'
import { eventually, type Kit, Live, within } from '../../kit.ts'
import { long, get, appsOf, serve } from './kit.ts'

export function drainOfIdleConnections(kit: Kit): void {
  describe('draining', () => {
    const appOf = appsOf(kit)
    test('idle connections stay, and their requests are answered with close', async () => {
      const app = appOf({ drainIdle: long })
      const live = await serve(app)
      const [served, fresh] = [await live.connect(), await live.connect()]
      assert.notEqual((await served.send(get).reply()).headers['connection'], 'close')
      await eventually(() => app.stats().connections === 2, 'both are accepted')
      const closing = app.close()
      await refused(live)
      for (const wire of [served, fresh]) {
        assert.equal(wire.isEnded, false)
        const reply = await wire.send(get).reply()
        assert.equal(reply.text, 'x')
        assert.equal(reply.headers['connection'], 'close')
        assert.equal(await wire.ended(), 'end')
        wire.close()
      }
      // Nothing is left, so it does not wait for the rest of `drainIdle`.
      await within(closing, 'close')
    })

    test('without connections close ends at once, and a second close is the first', async () => {
      const app = appOf({ drainIdle: long })
      await serve(app)
      const closing = app.close()
      assert.equal(app.close({ drainIdle: 0 }), closing)
      await within(closing, 'close')
    })

    test('connections that wait to be accepted are served', async () => {
      const app = appOf({ drainIdle: long })
      const { address } = await serve(app)
      const texts = connectMeanwhile(address.port as number, 100)
      const closing = app.close()
      for (const text of await within(texts, 'replies')) {
        assert.match(text, /^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\nx$/)
        assert.match(text, /\r\nconnection: close\r\n/i)
      }
      await within(closing, 'close')
    })

    test('an idle connection is read once more before it is closed', async () => {
      const app = appOf({ drainIdle: 0 })
      const live = await serve(app)
      const [late, quiet] = [await live.connect(), await live.connect()]
      assert.equal((await late.send(get).reply()).text, 'x')
      await eventually(() => app.stats().connections === 2, 'both are accepted')
      late.send(get)
      const closing = app.close()
      const reply = await late.reply()
      assert.equal(reply.headers['connection'], 'close')
      await late.ended()
      assert.equal(await quiet.ended(), 'end')
      late.close()
      quiet.close()
      await within(closing, 'close')
    })

    test('close({ drainIdle: 0 }) does not wait for idle connections', async () => {
      const app = appOf({ drainIdle: long })
      const live = await serve(app)
      const wires = [await live.connect(), await live.connect()]
      assert.equal((await wires[0]?.send(get).reply())?.text, 'x')
      // The clients do not close their side.
      await within(app.close({ drainIdle: 0 }), 'close')
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
  })
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

/** Resolves once the port accepts no connection. A connection that was accepted holds it open for a moment. */
function refused(live: Live): Promise<void> {
  return eventually(async () => {
    try {
      const wire = await live.connect()
      wire.close()
      return false
    } catch {
      return true
    }
  }, 'the port closes')
}
