/** The module that `volant start` runs, and what it says of one that does not start. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { runToEnd, withCluster } from '../../src/index.ts'
import { telling, told } from './kit.ts'

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

const stripsTypes = major > 23 || (major === 23 && minor >= 6) || (major === 22 && minor >= 18)

const hasMain = major >= 25 || (major === 24 && minor >= 2)

describe('start', { concurrency: 4 }, () => {
  test('a module that does not exist is refused before anything starts', async () => {
    const { code, output } = await runToEnd({ module: 'absent.js' })
    assert.equal(code, 1)
    assert.match(output, /^volant: there is no file absent\.js in .*: give the file/)
  })

  test('a module that throws: its error is shown, and the third failure ends the supervisor', async () => {
    const { code, output } = await runToEnd({
      workers: 1,
      files: { 'main.js': "throw new Error('of the app')" },
    })
    assert.equal(code, 1)
    assert.equal(output.match(/Error: of the app/g)?.length, 3)
    assert.match(output, /has ended before it listened, with code 1/)
  })

  test('a module that ends without listening is told so', async () => {
    const { code, output } = await runToEnd({ workers: 1, files: { 'main.js': "console.log('done')" } })
    assert.equal(code, 1)
    assert.match(output, /has ended before it listened, with code 0: the module has to call app\.listen\(\)/)
  })

  test('a module that never listens is killed after startTimeout', async () => {
    const { code, output } = await runToEnd({
      workers: 1,
      args: ['--start-timeout', '500ms'],
      files: { 'main.js': 'setInterval(() => {}, 1000)' },
    })
    assert.equal(code, 1)
    assert.match(output, /has not listened within 0\.5 s \(startTimeout\): it is killed/)
  })

  test('an absolute module, a CommonJS module, and arguments behind --', async () => {
    const text = `
const { createApp } = require('volant')
const app = createApp()
app.get('/', () => ({ argv: process.argv.slice(2), file: process.argv[1], main: require.main === module, name: __filename }))
app.listen(0, '127.0.0.1')
`
    await withCluster(
      { module: 'main.cjs', files: { 'main.cjs': text }, args: ['--', '--own', 'x y'] },
      async (cluster) => {
        const file = join(cluster.folder, 'main.cjs')
        assert.deepEqual(await told(cluster), { argv: ['--own', 'x y'], file, main: true, name: file })
        await withCluster({ module: file, files: {} }, async (other) => {
          assert.deepEqual(await told(other), { argv: [], file, main: true, name: file })
        })
      },
    )
  })

  test('import.meta.main is true, as with node', { skip: hasMain ? false : 'needs Node.js 24.2' }, () =>
    withCluster({ files: { 'main.js': telling('{ main: import.meta.main }') } }, async (cluster) => {
      assert.deepEqual(await told(cluster), { main: true })
    }),
  )

  test('a TypeScript module', async () => {
    const files = { 'main.ts': telling('{ text: "typed" as string }') }
    if (stripsTypes) {
      return withCluster({ module: 'main.ts', files }, async (cluster) => {
        assert.deepEqual(await told(cluster), { text: 'typed' })
      })
    }
    const { code, output } = await runToEnd({ module: 'main.ts', files })
    assert.equal(code, 1)
    assert.match(output, /main\.ts is TypeScript, which Node\.js .* does not run: compile it/)
  })
})
