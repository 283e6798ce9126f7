/**
 * `npm test -- --changed`: which tests reach a changed file, by the imports of the sources.
 *
 * What a file takes from a package is followed to the module that has it: `import { cors } from 'volant'` reaches the
 * module of `cors`, not all that `volant` exports. The nearest tests come first, as many as run in half a minute; the
 * others are named.
 */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { output, root } from '../command.mjs'
import { runsIn } from './suites.mjs'

/** For how long the chosen tests may take on one core, in s, by what they took before. */
const budget = 45

/** How far what a module loads beside the names that it passes on is from those who import such a name. */
const beside = 10

/** The files that differ from a revision, and those that git does not track yet. */
export function changedFiles(revision) {
  const changed = output('git', ['diff', '--name-only', revision])
  if (changed === null) throw new Error(`git knows no revision ${revision}`)
  const added = output('git', ['ls-files', '--others', '--exclude-standard'])
  return [...changed.split('\n'), ...added.split('\n')].filter(Boolean)
}

/** The tests that reach one of `changed`: `{ files, rust }`. Says what it leaves out. */
export function nearest(files, changed, times) {
  const rust = changed.some((path) => /\.rs$|(^|\/)Cargo\.(toml|lock)$/.test(path))
  const distances = distancesFrom(changed)
  const all = files
    .filter(({ source }) => distances.has(source))
    .toSorted((one, other) => distances.get(one.source) - distances.get(other.source))
  const reaching = all.filter(({ source }) => runsIn(source, 'always') || distances.get(source) === 0)
  const chosen = []
  let seconds = 0
  for (const file of reaching) {
    seconds += times[file.source] ?? 1
    // A file that changed itself always runs.
    if (seconds <= budget || distances.get(file.source) === 0) chosen.push(file)
  }
  console.log(`${changed.length} files changed; ${all.length} files of tests reach them.`)
  tell(
    'Left out, since they are further away (npm test runs them):',
    reaching.filter((file) => !chosen.includes(file)),
  )
  tell(
    'Left out, since only .ci/run or npm run test:all runs them:',
    all.filter((file) => !reaching.includes(file)),
  )
  if (chosen.length === 0 && !rust) console.log('No test reaches what changed.')
  return { files: chosen, rust }
}

function tell(why, files) {
  if (files.length === 0) return
  console.log(why)
  for (const { source } of files) console.log(`  ${source}`)
}

/** How far each file is from the nearest of `changed`, by path: an import is one step. */
function distancesFrom(changed) {
  const importers = importersOf(sources())
  const distances = new Map(changed.map((path) => [path, 0]))
  const queue = new Set(changed)
  // A file may be reached again by a shorter way; it is then looked at again.
  for (const path of queue) {
    queue.delete(path)
    for (const [importer, steps] of importers.get(path) ?? []) {
      const distance = distances.get(path) + steps
      if (distance >= (distances.get(importer) ?? Infinity)) continue
      distances.set(importer, distance)
      queue.add(importer)
    }
  }
  return distances
}

function sources() {
  const listed = output('git', [
    'ls-files',
    '--cached',
    '--others',
    '--exclude-standard',
    '*.ts',
    '*.mts',
    '*.mjs',
  ])
  return listed.split('\n').filter((path) => path !== '' && existsSync(join(root, path)))
}

/** By path, the files that import it, each with its distance. */
function importersOf(paths) {
  const entries = packageEntries()
  const known = new Map()
  const importers = new Map()
  const add = (target, importer, steps) => {
    if (!importers.has(target)) importers.set(target, new Map())
    const its = importers.get(target)
    its.set(importer, Math.min(steps, its.get(importer) ?? Infinity))
  }
  for (const path of paths) {
    for (const { specifier, names } of importsOf(path)) {
      const target = resolve(path, specifier, entries)
      if (target === null) continue
      const reached = throughBarrels(target, names, entries, known)
      for (const each of reached) add(each, path, 1)
      // What a module that passes names on loads beside them is far away.
      if (!reached.has(target)) add(target, path, beside)
    }
  }
  return importers
}

/** The imports and re-exports of a file: where from, and which names; null stands for all. */
function importsOf(path) {
  const text = readFileSync(join(root, path), 'utf8')
  const found = []
  for (const [, clause, specifier] of text.matchAll(
    /^(?:import|export)\s+(?:type\s+)?([^'"]*?)\s+from\s+'([^']+)'/gms,
  )) {
    const braces = /\{([^}]*)\}/s.exec(clause)
    found.push({ specifier, names: braces === null ? null : namesIn(braces[1]) })
  }
  for (const [, specifier] of text.matchAll(/\bimport\(\s*'([^']+)'\s*\)|^import\s+'([^']+)'/gm)) {
    if (specifier !== undefined) found.push({ specifier, names: null })
  }
  // A test starts other files as programs: `new URL('./app.ts', import.meta.url)`, fork('./worker.ts').
  for (const [, specifier] of text.matchAll(/'(\.{1,2}\/[\w./-]+\.(?:ts|js|mjs))'/g))
    found.push({ specifier, names: null })
  return found
}

function namesIn(braces) {
  return braces
    .split(',')
    .map((each) =>
      each
        .trim()
        .replace(/^type\s+/, '')
        .split(/\s+as\s+/),
    )
    .filter(([name]) => name !== '')
    .map(([name, local = name]) => ({ name, local }))
}

/** The path that an import names, or null when it is not of this repository. */
function resolve(from, specifier, entries) {
  if (!specifier.startsWith('.')) return entries.get(specifier) ?? null
  const path = relative(root, join(root, dirname(from), specifier))
  const candidates = [path, path.replace(/\.js$/, '.ts'), path.replace(/\.mjs$/, '.mts')]
  return candidates.find((each) => existsSync(join(root, each))) ?? null
}

/** The modules that have these names, where `target` only passes them on; else `target`. */
function throughBarrels(target, names, entries, known, depth = 0) {
  const passed = passedOn(target, known)
  if (names === null || passed === null || depth > 8) return new Set([target])
  const reached = new Set()
  for (const { name } of names) {
    const from = passed.find((each) => each.names === null || each.names.some(({ local }) => local === name))
    if (from === undefined) {
      reached.add(target)
      continue
    }
    const next = resolve(target, from.specifier, entries)
    if (next === null) continue
    const original = from.names?.find(({ local }) => local === name) ?? { name }
    for (const path of throughBarrels(next, [{ name: original.name }], entries, known, depth + 1))
      reached.add(path)
  }
  return reached
}

/** What a module passes on, or null if it has anything of its own. */
function passedOn(path, known) {
  if (!known.has(path)) {
    const text = readFileSync(join(root, path), 'utf8')
    const rest = text
      .replaceAll(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm, '')
      .replaceAll(/^export\s+(?:type\s+)?(?:\*|\{[^}]*\})\s+from\s+'[^']+'\s*;?/gms, '')
      .replaceAll(/^import\s+'[^']+'\s*;?/gm, '')
    known.set(path, rest.trim() === '' ? importsOf(path) : null)
  }
  return known.get(path)
}

/** The source behind each name by which packages of this repository are imported. */
function packageEntries() {
  const entries = new Map()
  for (const manifest of output('git', ['ls-files', '*package.json']).split('\n')) {
    const { name, exports } = JSON.parse(readFileSync(join(root, manifest), 'utf8'))
    if (typeof exports !== 'object' || exports === null) continue
    for (const [key, value] of Object.entries(exports)) {
      const file = typeof value === 'string' ? value : value.default
      if (typeof file !== 'string') continue
      const source = join(dirname(manifest), file.replace(/^\.\/dist\//, '').replace(/\.js$/, '.ts'))
      entries.set(key === '.' ? name : `${name}/${key.slice(2)}`, source)
    }
  }
  return entries
}
