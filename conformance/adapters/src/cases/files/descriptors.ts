import assert from 'node:assert/strict'
import { existsSync, readdirSync, readlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { VolantError } from 'volant'
import { deferred, eventually, type Kit, request } from '../../kit.ts'
import { type Folder } from './folder.ts'

export function descriptorsOfFiles(kit: Kit, { root }: Folder): void {
  /** How often this process has the file open; −1 where the system does not tell. */
  function opened(name: string): number {
    if (!existsSync('/proc/self/fd')) return -1
    return readdirSync('/proc/self/fd').filter((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`) === name
      } catch {
        return false
      }
    }).length
  }

  test('no file stays open: the client leaves, the condition fails, the reply was given', async () => {
    const name = join(root, 'huge.bin')
    writeFileSync(name, '')
    truncateSync(name, 64 * 1_048_576)
    const app = kit.app()
    app.get('/x', (ctx) => ctx.file(name))
    app.get('/replied', async (ctx) => {
      const sent = ctx.file(name)
      ctx.text('first')
      await sent
    })
    await kit.serve(app, async (live) => {
      const reported = kit.reports.length
      for (let at = 0; at < 5; at++) {
        const wire = await live.connect()
        wire.socket.pause()
        wire.send(request('GET', '/x'))
        await eventually(() => opened(name) !== 0, 'the file is open')
        wire.reset()
      }
      await live.ask('/x', { headers: { 'if-match': '"x"' } })
      await live.ask('/x', { headers: { 'if-none-match': '*' } })
      await live.ask('/x', { headers: { range: `bytes=${2 ** 40}-` } })
      await live.ask('/x', { method: 'HEAD' })
      assert.equal((await live.ask('/replied')).text, 'first')
      await eventually(() => opened(name) <= 0, 'the file is closed')
      await eventually(() => kit.reports.length > reported, 'the report')
      assert.equal((kit.reports.pop() as VolantError).code, 'E_ALREADY_REPLIED')
    })
  })

  test('a file that becomes shorter resets the connection', async () => {
    const name = join(root, 'shrinks.bin')
    writeFileSync(name, '')
    truncateSync(name, 64 * 1_048_576)
    const app = kit.app()
    const ended = deferred<boolean>()
    app.onResponse((_, info) => ended.resolve(info.aborted))
    app.get('/x', (ctx) => ctx.file(name))
    await kit.serve(app, async (live) => {
      const wire = await live.connect()
      wire.send(request('GET', '/x'))
      // Its length is known by now: before, the file would merely be a short one.
      await wire.until(() => (wire.received.includes('\r\n\r\n') ? true : undefined), 'the head')
      wire.socket.pause()
      truncateSync(name, 1_000)
      wire.socket.resume()
      await assert.rejects(wire.reply(), /ended in a reply/)
      assert.equal(await ended.promise, true)
      await eventually(() => opened(name) <= 0, 'the file is closed')
      assert.equal((kit.reports.pop() as VolantError).code, 'E_RESET')
    })
  })
}
