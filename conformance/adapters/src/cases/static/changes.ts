import assert from 'node:assert/strict'
import { mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { testClock } from '@volant/test-kit'
import { gzipSync } from 'node:zlib'
import type { Kit } from '../../kit.ts'
import { written, script, publicFolder } from './folder.ts'

/** A file that was written this long before it is read has settled, in ms. */
const settled = 3_000

/** When a change of a folder is seen. Every adapter looks at folders by the clock of JavaScript. */
export function staticChanges(kit: Kit): void {
  describe('static folders', () => {
    const { root, serve } = publicFolder(kit)

    test('a changed file, a new one and one that was removed are seen after at most a second', async (t) => {
      const clock = testClock(t)
      const name = join(root, 'changing.txt')
      await serve(
        (app) => app.static('/', root, { precompressed: true }),
        async (live) => {
          const ask = async (): Promise<string> => {
            const reply = await live.ask('/changing.txt', { headers: { 'accept-encoding': 'gzip' } })
            return reply.status === 404
              ? 'none'
              : `${reply.headers['content-encoding'] ?? 'plain'} ${reply.body.length}`
          }
          /** Fails if a request that begins a second after the change does not see it. */
          const sees = async (what: string, isSeen: () => Promise<boolean>): Promise<void> => {
            for (let waited = 0; !(await isSeen()); waited += 50) {
              assert.ok(waited < 1_000, what)
              await clock.advance(50)
            }
          }
          const becomes = (wanted: string): Promise<void> =>
            sees(wanted, async () => (await ask()) === wanted)
          const header = async (name: string): Promise<string | undefined> =>
            (await live.ask('/changing.txt')).headers[name]
          assert.equal(await ask(), 'none')
          writeFileSync(name, 'one')
          assert.equal(await ask(), 'plain 3')
          await clock.advance(settled)
          assert.equal(await ask(), 'plain 3')
          writeFileSync(name, 'two and more')
          await becomes('plain 12')
          await clock.advance(settled)
          assert.equal(await ask(), 'plain 12')
          // The size stays, and so does the time, as in a build that can be repeated.
          utimesSync(name, 0, 0)
          await sees('no time', async () => (await header('last-modified')) === undefined)
          const tag = await header('etag')
          writeFileSync(join(root, 'next.txt'), 'three and mo')
          utimesSync(join(root, 'next.txt'), 0, 0)
          renameSync(join(root, 'next.txt'), name)
          await sees('another tag', async () => (await header('etag')) !== tag)
          assert.equal((await live.ask('/changing.txt')).text, 'three and mo')
          writeFileSync(`${name}.gz`, gzipSync('three and mo'))
          await becomes(`gzip ${gzipSync('three and mo').length}`)
          rmSync(name)
          await becomes('none')
          rmSync(`${name}.gz`)
        },
      )
    })

    test('a file that goes before the one in memory is seen, and a newer copy of one that was old', async (t) => {
      const clock = testClock(t)
      const folder = join(root, 'order')
      mkdirSync(join(folder, 'js.js.gz'), { recursive: true })
      const file = (name: string, text: string | Buffer, at = written): void => {
        writeFileSync(join(folder, name), text)
        utimesSync(join(folder, name), at, at)
      }
      file('index.html', 'second')
      file('a.html', 'a.html')
      file('js.js', script)
      file('js.js.br', 'old', new Date(0))
      await serve(
        (app) =>
          app.static('/', folder, {
            index: ['index.htm', 'index.html'],
            extensions: ['html'],
            precompressed: true,
          }),
        async (live) => {
          const headers = { 'accept-encoding': 'br' }
          const sees = async (path: string, wanted: string): Promise<void> => {
            for (let waited = 0; (await live.ask(path, { headers })).text !== wanted; waited += 50) {
              assert.ok(waited < 1_000, `${path}: ${wanted}`)
              await clock.advance(50)
            }
          }
          // Files that were written long before they are read are kept until something changes.
          await clock.advance(settled)
          await sees('/', 'second')
          await sees('/a', 'a.html')
          await sees('/js.js', script)
          file('index.htm', 'first')
          file('a', 'a')
          file('js.js.br', 'new')
          await sees('/', 'first')
          await sees('/a', 'a')
          await sees('/js.js', 'new')
        },
      )
    })
  })
}
