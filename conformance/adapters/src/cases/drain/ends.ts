import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { eventually, type Kit, within } from '../../kit.ts'
import { Wire } from '../../wire.ts'
import { get, long } from './kit.ts'

export function endsOfDrain(kit: Kit): void {
  describe('draining', () => {
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
      assert.deepEqual(await within(exited, 'the exit'), [null, 'SIGINT'])
      wire.close()
    })
  })
}
