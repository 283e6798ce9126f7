import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import {
  existsSync,
  readdirSync,
  readlinkSync,
  rmSync,
  truncateSync,
  appendFileSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'
import type { VolantError } from 'volant'
import { eventually, type Kit, request } from '../../kit.ts'
import { style, publicFolder } from './folder.ts'

/** Files that change while they are sent, files that stay open, and memory. */
export function openFiles(kit: Kit): void {
  describe('static folders', () => {
    const { root, serve } = publicFolder(kit)

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

    test('a file that shrinks resets the connection; one that grows is sent as long as it was', async () => {
      const name = join(root, 'moving.bin')
      await serve(
        (app) => app.static('/', root),
        async (live) => {
          writeFileSync(name, '')
          truncateSync(name, 64 * 1_048_576)
          const wire = await live.connect()
          wire.send(request('GET', '/moving.bin'))
          await wire.until(() => (wire.received.includes('\r\n\r\n') ? true : undefined), 'the head')
          wire.socket.pause()
          truncateSync(name, 1_000)
          wire.socket.resume()
          await assert.rejects(wire.reply(), /ended in a reply/)
          assert.equal((kit.reports.pop() as VolantError).code, 'E_RESET')
          const length = 8 * 1_048_576
          truncateSync(name, length)
          const other = await live.connect()
          other.send(request('GET', '/moving.bin'))
          await other.until(() => (other.received.includes('\r\n\r\n') ? true : undefined), 'the head')
          other.socket.pause()
          appendFileSync(name, Buffer.alloc(length, 1))
          other.socket.resume()
          const reply = await other.reply()
          assert.equal(reply.body.length, length)
          assert.equal((await other.send(request('GET', '/css/site.css')).reply()).text, style)
          await eventually(() => opened(name) <= 0, 'the file is closed')
        },
      )
    })

    test('no file stays open: clients leave, conditions fail, copies are not chosen', async () => {
      const name = join(root, 'huge.js')
      writeFileSync(name, '')
      truncateSync(name, 16 * 1_048_576)
      writeFileSync(`${name}.gz`, '')
      truncateSync(`${name}.gz`, 8 * 1_048_576)
      await serve(
        (app) => app.static('/', root, { precompressed: true }),
        async (live) => {
          for (let at = 0; at < 5; at++) {
            const wire = await live.connect()
            wire.socket.pause()
            wire.send(request('GET', '/huge.js'))
            await eventually(() => opened(name) !== 0, 'the file is open')
            wire.reset()
          }
          for (const headers of [
            { 'if-match': '"x"' },
            { 'if-none-match': '*' },
            { range: `bytes=${2 ** 40}-` },
            { 'accept-encoding': 'gzip', 'if-none-match': '*' },
          ]) {
            await live.ask('/huge.js', { headers })
          }
          await live.ask('/huge.js', { method: 'HEAD' })
          const coded = await live.ask('/huge.js', { headers: { 'accept-encoding': 'gzip' } })
          assert.equal(coded.body.length, 8 * 1_048_576)
          await eventually(() => opened(name) <= 0 && opened(`${name}.gz`) <= 0, 'the files are closed')
        },
      )
    })

    const huge = process.env['TEST_ALL'] === '1' ? 1_024 : 128

    test(`${huge} MiB are sent in constant memory`, async () => {
      const name = join(root, 'enormous.bin')
      const size = huge * 1_048_576
      writeFileSync(name, '')
      truncateSync(name, size)
      await serve(
        (app) => app.static('/', root),
        async (live) => {
          // The client has a process of its own, so that its garbage is not counted.
          const program = `
            let received = 0
            for await (const chunk of (await fetch(process.argv[1])).body) received += chunk.length
            console.log(received)`
          const least = process.memoryUsage.rss()
          let most = least
          const args = ['--input-type=module', '-e', program, `${live.address.url}/enormous.bin`]
          let received: number | undefined
          const client = promisify(execFile)(process.execPath, args).then(({ stdout }) => {
            received = Number(stdout)
          })
          await Promise.all([
            client,
            eventually(() => {
              most = Math.max(most, process.memoryUsage.rss())
              return received !== undefined
            }, 'the end of the client'),
          ])
          assert.equal(received, size)
          // What is not collected yet counts, too.
          assert.ok(most - least < 96 * 1_048_576, `${Math.round((most - least) / 1_048_576)} MiB more`)
        },
      )
      rmSync(name)
    })
  })
}
