/** What the command `volant dev` takes, and what it leaves. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { eventually, processExists } from '@volant/test-kit'
import { Project, versionSource } from './project.ts'
import { skip, withProject } from './kit.ts'

// Without the option, from Node.js 22.18 on.
const withoutTypeScript = process.features.typescript
  ? false
  : 'this version of Node.js does not run TypeScript'

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
      const never = assert.rejects(project.askOnce('/never'))
      assert.equal(await project.interrupt(), 0)
      await never
      await eventually(() => !processExists(pid), 'the process of the app ends')
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
