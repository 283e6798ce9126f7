import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { describe, test } from 'node:test'
import { eventually, type Kit, within } from '../../kit.ts'

/** Apps in processes of their own: signals, and what keeps a process alive. */
export function signalsAndExit(kit: Kit): void {
  describe('listening and closing', () => {
    for (const [signal, twice] of [
      ['SIGTERM', false],
      ['SIGINT', false],
      ['SIGTERM', true],
    ] as const) {
      test(`${signal}${twice ? ' twice ends at once' : ' lets the request in flight finish, then the process ends with 0'}`, async () => {
        const volant = import.meta.resolve('volant')
        const script = `
          import { createApp } from ${JSON.stringify(volant)}
          const app = createApp({ adapter: { type: ${JSON.stringify(kit.adapter)} } })
          const closing = new Promise((go) => app.onClosing(go)).then(() => console.log('closing'))
          app.get('/slow', async () => {
            console.log('entered')
            await closing
            await new Promise((go) => ${twice} || setImmediate(go))
            return 'done'
          })
          const { port } = await app.listen(0, '127.0.0.1')
          console.log(port)`
        const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
          stdio: ['ignore', 'pipe', 'inherit'],
        })
        const exited = new Promise<[number | null, string | null]>((resolve) =>
          child.on('exit', (code, by) => resolve([code, by])),
        )
        let said = ''
        child.stdout.on('data', (text) => (said += text))
        await eventually(() => said.includes('\n'), 'the port')
        const reply = fetch(`http://127.0.0.1:${Number.parseInt(said, 10)}/slow`).then((answer) =>
          answer.text(),
        )
        reply.catch(() => {})
        await eventually(() => said.includes('entered'), 'the request in its handler')
        child.kill(signal)
        if (twice) {
          await eventually(() => said.includes('closing'), 'the first signal')
          child.kill(signal)
          assert.deepEqual(await within(exited, 'the exit'), [null, signal])
          await assert.rejects(reply)
        } else {
          assert.equal(await reply, 'done')
          assert.deepEqual(await within(exited, 'the exit'), [0, null])
        }
      })
    }

    test('a signal closes every app, also when onClose of one fails', async () => {
      const script = `
        import { createApp } from ${JSON.stringify(import.meta.resolve('volant'))}
        const options = { adapter: { type: ${JSON.stringify(kit.adapter)} } }
        const failing = createApp(options)
        failing.onClose(() => { throw new Error('hook') })
        await failing.listen(0, '127.0.0.1')
        const app = createApp(options)
        const closing = new Promise((go) => app.onClosing(go))
        app.get('/slow', async () => {
          console.error('entered')
          await closing
          return new Promise((go) => setImmediate(go, 'done'))
        })
        console.log((await app.listen(0, '127.0.0.1')).port)`
      const child = spawn(process.execPath, ['--input-type=module', '-e', script])
      const exited = new Promise((resolve) => child.on('exit', resolve))
      let said = ''
      child.stderr.on('data', (text) => (said += text))
      const port = await new Promise<number>((resolve) =>
        child.stdout.once('data', (line) => resolve(Number(line))),
      )
      const reply = fetch(`http://127.0.0.1:${port}/slow`).then((answer) => answer.text())
      reply.catch(() => {})
      await eventually(() => said.includes('entered'), 'the request in its handler')
      child.kill('SIGTERM')
      assert.equal(await reply, 'done')
      assert.equal(await within(exited, 'the exit'), 1)
      assert.match(said, /close\(\) failed: Error: hook/)
    })

    test('unref lets the process end', kit.needs('unref'), async () => {
      const volant = import.meta.resolve('volant')
      const script = `
        import { createApp } from ${JSON.stringify(volant)}
        const app = createApp({ adapter: { type: ${JSON.stringify(kit.adapter)} } })
        await app.listen(0, '127.0.0.1')
        app.unref()`
      const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' })
      const code = await within(new Promise((resolve) => child.on('exit', resolve)), 'the exit')
      assert.equal(code, 0)
    })
  })
}
