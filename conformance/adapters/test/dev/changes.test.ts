/** `volant dev` brings another version when content changes. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, readFileSync, renameSync, rmSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { WebSocket } from 'ws'
import { eventually, processExists } from '@volant/test-kit'
import { Project, versionSource } from './project.ts'
import { skip } from './kit.ts'

describe('volant dev: a change', { skip }, () => {
  let project: Project
  before(async () => {
    project = await Project.make()
    await project.serve()
  })
  after(() => project.end())

  test('brings another version, and says how long it took', async () => {
    assert.equal(await project.ask(), 'first')
    project.write('src/version.js', versionSource('second'))
    await project.says('src/version.js changed')
    assert.equal(await project.ask(), 'second')
    assert.match(
      project.output,
      /^volant: src\/version\.js changed: restarted in \d+ ms; the old version ended \d+ ms later$/m,
    )
  })

  test('ends open streams and WebSockets, whose clients find the next version', async () => {
    const restarts = project.count('restarted in')
    const stream = async (): Promise<[string, Promise<unknown>]> => {
      const reply = await fetch(`http://127.0.0.1:${project.port}/events`)
      const reader = (reply.body as ReadableStream<Uint8Array>).getReader()
      let text = ''
      while (!text.includes('data: ')) text += new TextDecoder().decode((await reader.read()).value)
      const drain = async (): Promise<void> => {
        while (!(await reader.read()).done);
      }
      return [/data: (\w+)/.exec(text)?.[1] as string, drain()]
    }
    const socket = async (): Promise<[string, Promise<unknown>, WebSocket]> => {
      const ws = new WebSocket(`ws://127.0.0.1:${project.port}/echo`)
      const [data] = (await once(ws, 'message')) as [Buffer]
      return [data.toString(), once(ws, 'close'), ws]
    }
    const [streamed, streamEnd] = await stream()
    const [sent, socketEnd] = await socket()
    assert.deepEqual([streamed, sent], ['second', 'second'])
    project.write('src/version.js', versionSource('third'))
    await streamEnd
    const [code] = (await socketEnd) as [number]
    assert.equal(code, 1001)
    // The streams are told by the old version once the new one serves.
    const [streamedAnew] = await stream()
    const [sentAnew, , again] = await socket()
    assert.deepEqual([streamedAnew, sentAnew], ['third', 'third'])
    again.close()
    await project.says('restarted in', restarts + 1)
  })

  test('does not wait for a handler that never answers', async () => {
    const restarts = project.count('restarted in')
    const never = assert.rejects(project.askOnce('/never'))
    const pid = Number(await project.ask('/pid'))
    project.write('src/version.js', versionSource('fourth'))
    await never
    await project.says('restarted in', restarts + 1)
    assert.equal(await project.ask(), 'fourth')
    await eventually(() => !processExists(pid), 'the old process ends')
  })

  test('of many files restarts once or twice', async () => {
    const restarts = project.count('restarted in')
    for (let at = 0; at < 200; at++) project.write(`src/many/file-${at}.js`, `export const at = ${at}\n`)
    project.write('src/version.js', versionSource('fifth'))
    await eventually(() => project.count('restarted in') > restarts, 'it restarts')
    // After a further change all that was written before has been seen.
    project.write('src/mark.js', 'export const mark = 1\n')
    await project.says('src/mark.js changed')
    assert.equal(await project.ask(), 'fifth')
    assert.ok(project.count('restarted in') - restarts <= 3, project.output)
  })

  test('is one of content: neither a touch, nor what is ignored, nor the files of editors', async () => {
    const path = (name: string): string => join(project.folder, name)
    const begin = project.output.length
    utimesSync(path('src/version.js'), new Date(), new Date())
    project.write('src/version.js', readFileSync(path('src/version.js'), 'utf8'))
    for (const name of [
      'src/.#a.js',
      'src/a.js~',
      'src/4913',
      'log.txt',
      'dist/a.js',
      '.git/a.js',
      'node_modules/a/b.js',
    ]) {
      project.write(name, 'x')
    }
    // Editors save like this: they move a file of another name over it.
    project.write('src/version.js.new', versionSource('saved'))
    renameSync(path('src/version.js.new'), path('src/version.js'))
    await eventually(() => project.output.slice(begin).includes('restarted in'), 'it restarts')
    assert.match(project.output.slice(begin), /^volant: src\/version\.js changed: /m)
    assert.equal(await project.ask(), 'saved')
    mkdirSync(path('src/new'))
    project.write('src/new/folder.js', 'export {}\n')
    await project.says('src/new/folder.js changed')
    // Git does this when it checks out another branch.
    rmSync(path('src/new'), { recursive: true })
    await project.says('src/new/folder.js changed', 2)
    project.write('src/new/folder.js', 'export {}\n')
    await project.says('src/new/folder.js changed', 3)
    project.write('src/new/folder.js', 'export const other = 1\n')
    await project.says('src/new/folder.js changed', 4)
  })
})
