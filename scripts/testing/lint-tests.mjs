/**
 * What `npm run lint` refuses in tests, beside the rules of oxlint: waiting for the wall clock or reading it, in any file
 * that scripts/testing/suites.mjs does not list as one that measures time; files above 300 lines; and rows of that list
 * without a file.
 *
 * A test owns its clock (`testClock` of `conformance/kit`), waits for a condition (`eventually`, `deferred`), or lets the
 * event loop go round (`turns`).
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from '@babel/parser'
import { output, root } from '../command.mjs'
import { mayReadClock, paths } from './suites.mjs'

/** The most lines of a file of tests or cases. */
const mostLines = 300

const timer = /^set(Timeout|Interval)$/

const sources = output('git', [
  'ls-files',
  '--cached',
  '--others',
  '--exclude-standard',
  '*.ts',
  '*.mjs',
  '*.rs',
]).split('\n')
const files = sources.filter(isTest)
const faults = [
  ...files.flatMap((file) => [...tooLong(file), ...(file.endsWith('.rs') ? [] : clockOf(file))]),
  ...paths().flatMap((path) => [...withoutFiles(path)]),
]
for (const fault of faults) console.error(fault)
console.log(`${files.length} files of tests: ${faults.length === 0 ? 'no' : faults.length} faults`)
process.exitCode = faults.length > 0 ? 1 : 0

/** Tests, and what only tests use. Lint of the lab's servers is its own: `lab/entries` and `lab/src` are measured code. */
function isTest(path) {
  if (/(^|\/)(generated|fuzz|corpus|fixtures)\//.test(path)) return false
  return path.endsWith('.test.ts') || /(^|\/)tests?\//.test(path) || /^conformance\/[^/]+\/src\//.test(path)
}

/** A suite that is renamed would no longer have its row. The name of a binary of Rust stands behind its folder. */
function* withoutFiles(path) {
  const [start] = path.split(' ')
  if (!sources.some((file) => file.startsWith(start)))
    yield `scripts/testing/suites.mjs: no file begins with ${path}: write it as it is named now, or delete the row`
}

function* tooLong(file) {
  const lines = readFileSync(join(root, file), 'utf8').split('\n').length - 1
  if (lines > mostLines)
    yield `${file}: ${lines} lines, ${mostLines} may be: divide it by what its cases are about`
}

function* clockOf(file) {
  if (mayReadClock(file)) return
  const text = readFileSync(join(root, file), 'utf8')
  for (const { node, what } of uses(parse(text, { sourceType: 'module', plugins: ['typescript'] }).program)) {
    yield `${file}:${node.loc.start.line}: ${what}. Take testClock, eventually or turns of conformance/kit, or list the file in scripts/testing/suites.mjs`
  }
}

function* uses(node) {
  const what = refused(node)
  if (what !== null) yield { node, what }
  for (const [key, value] of Object.entries(node)) {
    if (key.endsWith('Comments') || key === 'loc') continue
    for (const child of Array.isArray(value) ? value : [value])
      if (typeof child?.type === 'string') yield* uses(child)
  }
}

/** Says what is wrong with a node, or null. */
function refused(node) {
  if (node.type === 'ImportDeclaration' && /^(node:)?timers(\/promises)?$/.test(node.source.value)) {
    const name = node.specifiers.map(({ imported }) => imported?.name).find((each) => timer.test(each))
    return name === undefined ? null : `${name} of ${node.source.value} waits for the wall clock`
  }
  if (node.type !== 'CallExpression') return null
  const { callee, arguments: given } = node
  if (callee.type === 'Identifier' && timer.test(callee.name) && given[1]?.type === 'NumericLiteral')
    return given[1].value === 0 ? null : `${callee.name} with ${given[1].value} ms waits for the wall clock`
  if (callee.name === 'blockFor') return 'blockFor waits for the wall clock'
  if (callee.type !== 'MemberExpression') return null
  const name = `${callee.object.name}.${callee.property.name}`
  if (name === 'Atomics.wait' && given.length > 3)
    return 'Atomics.wait with a timeout waits for the wall clock'
  if (name === 'Date.now') return 'Date.now() reads the wall clock'
  if (/^process\.(hrtime|cpuUsage)$/.test(name) || callee.object.property?.name === 'hrtime')
    return 'process.hrtime() and process.cpuUsage() measure what code costs'
  return null
}
