/** `volant dev`: real processes in a project of its own. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, readFileSync, renameSync, rmSync, utimesSync } from 'node:fs'
import { Agent, get, type IncomingMessage } from 'node:http'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { createApp } from 'volant'
import { WebSocket } from 'ws'
import { eventually } from '@volant/test-kit'
import { Project, versionSource } from './dev/project.ts'

const require = createRequire(import.meta.url)
const isNative = createApp({ signals: false }).adapterName === 'native'
const skip = isNative ? false : 'the native engine is not there'

// Without the option, from Node.js 22.18 on.
const withoutTypeScript = process.features.typescript
  ? false
  : 'this version of Node.js does not run TypeScript'

async function withProject(run: (project: Project) => Promise<void>): Promise<void> {
  const project = await Project.make()
  try {
    await run(project)
  } catch (error) {
    console.error(project.output)
    throw error
  } finally {
    await project.end()
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

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
    const never = assert.rejects(project.ask('/never'))
    const pid = Number(await project.ask('/pid'))
    project.write('src/version.js', versionSource('fourth'))
    await never
    await project.says('restarted in', restarts + 1)
    assert.equal(await project.ask(), 'fourth')
    await eventually(() => !isAlive(pid), 'the old process ends')
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

describe('volant dev: a fault', { skip }, () => {
  test('at the start is shown once, and the old version serves on', () =>
    withProject(async (project) => {
      await project.serve()
      project.write('src/version.js', 'export const version = ;\n')
      await project.says('the new version did not start')
      assert.equal(project.count('SyntaxError'), 1)
      assert.equal(await project.ask(), 'first')
      project.write('src/version.js', versionSource('mended'))
      await project.says('src/version.js changed')
      assert.equal(await project.ask(), 'mended')
      assert.equal(project.count('SyntaxError'), 1)
    }))

  test('of a version that serves has it wait for the next change', () =>
    withProject(async (project) => {
      await project.serve()
      // Its reply may be lost.
      await project.ask('/crash').catch(() => {})
      await project.says('the app has ended, with code 1: the next change starts it anew')
      assert.equal(project.count('Error: it has crashed'), 1)
      // The request waits for the next version.
      const reply = project.ask()
      project.write('src/version.js', versionSource('next'))
      assert.equal(await reply, 'next')
      assert.equal(project.count('did not start'), 0)
    }))

  test('of the first version has it wait, too', () =>
    withProject(async (project) => {
      project.write('src/version.js', "throw new Error('not yet')\nexport const version = ''\n")
      project.run()
      await project.says(
        'volant: the app did not start, and has ended with code 1: the next change starts it anew',
      )
      assert.equal(project.count('Error: not yet'), 1)
      project.write('src/version.js', versionSource('good'))
      await project.says('listening on')
      assert.equal(await project.ask(), 'good')
    }))

  test('of types is shown once, and said to be gone', () =>
    withProject(async (project) => {
      project.link('typescript', dirname(require.resolve('typescript/package.json')))
      const options = { allowJs: true, checkJs: true, module: 'nodenext', target: 'es2022', types: [] }
      project.write('tsconfig.json', JSON.stringify({ compilerOptions: options, include: ['src/typed.js'] }))
      project.write('src/typed.js', '/** @type {number} */\nexport const count = "one"\n')
      await project.serve()
      await project.says('src/typed.js(2,14): error TS2322')
      await project.says('volant: 1 type error, and the app runs')
      // The error stands on another line, and a second one follows.
      const second = '/** @type {string} */\nexport const name = 1\n'
      project.write('src/typed.js', `\n/** @type {number} */\nexport const count = "one"\n${second}`)
      await project.says('volant: 2 type errors, and the app runs')
      assert.equal(project.count('error TS2322'), 2, project.output)
      project.write('src/typed.js', 'export const count = 1\n')
      await project.says('volant: the types have no errors any more')
      assert.equal(project.count('error TS'), 2)
    }))
})

describe('volant dev: the command', { skip }, () => {
  test('has a new version read the file of --env-file', () =>
    withProject(async (project) => {
      project.write('.env', 'GREETING=hello\n')
      project.nodeOptions = ['--env-file=.env']
      await project.serve()
      assert.equal(await project.ask('/greeting'), 'hello')
      project.write('.env', 'GREETING=good morning\n')
      await project.says('.env changed')
      assert.equal(await project.ask('/greeting'), 'good morning')
    }))

  test('runs TypeScript', { skip: skip || withoutTypeScript }, () =>
    withProject(async (project) => {
      project.write(
        'src/main.ts',
        "import { version } from './typed.ts'\nimport './main.js'\nconsole.log(version)\n",
      )
      project.write('src/typed.ts', "export const version: string = 'typed'\n")
      project.module = 'src/main.ts'
      await project.serve()
      project.write('src/typed.ts', "export const version: = 'typed'\n")
      await project.says('the new version did not start')
      assert.equal(project.count('SyntaxError'), 1)
      project.write('src/typed.ts', "export const version: string = 'mended'\n")
      await project.says('src/typed.ts changed')
      assert.equal(project.count('mended'), 1)
    }),
  )

  test('leaves no process after Ctrl-C', () =>
    withProject(async (project) => {
      await project.serve()
      const pid = Number(await project.ask('/pid'))
      const never = assert.rejects(project.ask('/never'))
      assert.equal(await project.interrupt(), 0)
      await never
      await eventually(() => !isAlive(pid), 'the process of the app ends')
    }))

  test('takes further folders, and files that do not count', () =>
    withProject(async (project) => {
      const other = await Project.make()
      try {
        await project.serve('--watch', other.folder, '--ignore', 'data.json')
        project.write('data.json', '{ "changed": true }')
        other.write('src/version.js', versionSource('other'))
        await project.says(`${other.folder}/src/version.js changed`)
        await project.says('restarted in')
        assert.equal(project.count('restarted in'), 1)
        assert.equal(project.count('data.json'), 0)
      } finally {
        await other.end()
      }
    }))

  test('says what it does not take', () =>
    withProject(async (project) => {
      project.run('--watch', 'nowhere')
      await assert.rejects(project.says('listening on'))
      assert.match(project.output, /^volant: --watch takes a folder that is there, from .*, not "nowhere"$/m)
    }))
})

test('volant dev: no request fails while versions follow each other', { skip }, () =>
  withProject(async (project) => {
    await project.serve()
    const counts = { fresh: 0, kept: 0, again: 0 }
    let isOver = false
    const agent = new Agent({ keepAlive: true, maxSockets: 4 })
    const loop = async (name: 'fresh' | 'kept', from: Agent | false): Promise<void> => {
      while (!isOver) {
        // A server may close a connection while a request is on its way; clients repeat it then (RFC 9112 §9.3.1).
        let status = await ask(project.port, from)
        for (; status === 'closed'; counts.again++) status = await ask(project.port, from)
        assert.equal(status, 200)
        counts[name]++
      }
    }
    const loops = Promise.all([loop('fresh', false), loop('kept', agent), loop('kept', agent)])
    loops.catch(() => {})
    for (let at = 1; at <= 5; at++) {
      project.write('src/version.js', versionSource(`version-${at}`))
      await project.says('restarted in', at)
    }
    isOver = true
    await loops
    agent.destroy()
    assert.ok(counts.fresh > 5 && counts.kept > 5, JSON.stringify(counts))
  }),
)

/**
 * Gives the status; `closed` if the server closed an idle connection as the request came: one that was used before, or a
 * new one whose client stood still before it sent the request.
 */
function ask(port: number, agent: Agent | false): Promise<number | 'closed'> {
  const begun = performance.now()
  return new Promise((resolve, reject) => {
    const request = get({ port, host: '127.0.0.1', agent }, (reply: IncomingMessage) => {
      reply.on('error', reject).resume()
      reply.on('end', () => resolve(reply.statusCode as number))
    })
    request.on('error', (error: NodeJS.ErrnoException) => {
      const wasIdle = request.reusedSocket || performance.now() - begun > 200
      if (wasIdle && error.code === 'ECONNRESET') resolve('closed')
      else reject(error)
    })
  })
}
