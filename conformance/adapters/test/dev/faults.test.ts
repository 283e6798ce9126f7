/** `volant dev` shows faults of the project, and the old version serves on. */
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { describe, test } from 'node:test'
import { versionSource } from './project.ts'
import { skip, withProject } from './kit.ts'

const require = createRequire(import.meta.url)

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
      await project.askOnce('/crash').catch(() => {})
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
