/**
 * Runs several compiled test files in this process, one after the other: a file of 0.3 s costs a start of 0.5 s when it has
 * a process of its own. `node shared-process.mjs FILE…`
 *
 * What a file registers with node:test at its top level becomes a suite with the file's path as its name, so that its
 * hooks are its own and the reporter knows whose a test is. The next file is loaded when the suite before it has ended.
 */
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { pathToFileURL } from 'node:url'

const tests = createRequire(import.meta.url)('node:test')
const { describe, after } = tests

/** The calls of the file that is being loaded; null while tests run. */
let registered = null

for (const name of ['test', 'it', 'describe', 'suite', 'before', 'after', 'beforeEach', 'afterEach']) {
  tests[name] = recording(tests[name])
}
syncBuiltinESMExports()

for (const file of process.argv.slice(2)) await runFile(file)

function recording(original) {
  const wrapped = (...given) => {
    if (registered === null) return original(...given)
    registered.push(() => original(...given))
    return Promise.resolve()
  }
  for (const variant of ['skip', 'todo', 'only']) {
    if (typeof original[variant] === 'function') wrapped[variant] = recording(original[variant])
  }
  return wrapped
}

async function runFile(file) {
  const calls = (registered = [])
  let failure
  try {
    await import(pathToFileURL(file).href)
  } catch (error) {
    failure = error
  } finally {
    registered = null
  }
  await new Promise((resolve) => {
    describe(file, () => {
      for (const call of calls) call()
      if (failure !== undefined) {
        tests.test('it loads', () => {
          throw failure
        })
      }
      after(resolve)
    })
  })
}
