import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { deferred, eventually, type Kit, request, within } from '../../kit.ts'
import { Wire } from '../../wire.ts'
import { long, get, appsOf, serve } from './kit.ts'

export function endsOfDrain(kit: Kit): void {
  describe('draining', () => {
    const appOf = appsOf(kit)
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
