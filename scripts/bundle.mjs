/**
 * The files that people import of a package's compiled sources, without the files behind them: importing 80 small ones
 * takes three quarters of the time that an app needs to start. Readable, in the order of the sources and without their
 * maps, so that a stack trace still leads somewhere.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { build } from 'esbuild-wasm'

/** Where a package has its compiled sources. */
const sources = 'dist/src'

/**
 * Writes `entry`, a path in the package `from`, and what it imports of that package, as one file to the same path in
 * `to`; other packages stay imports.
 *
 * `others` are entries that need files of `entry`, too. They import those from the package, `name`, under names that
 * begin with `~`: so there is one of each class, and whoever imports `entry` alone loads one file. With files that all
 * of them share, `import 'volant'` took 114 ms of CPU rather than 109, of which Node.js needs 62.
 *
 * A file that `entry` imports by `import()` becomes such an entry as well: it is read when it is needed.
 *
 * `apart` are files that others import by `import()` and that are bundled by themselves: they run in a process that has
 * nothing else of the package, and share nothing.
 */
export async function bundle(entry, from, to, { name, others = [], apart = [] } = {}) {
  const places = { outbase: join(from, sources), outdir: join(to, sources) }
  const later = new Set(others.map((each) => resolve(from, each)))
  const first = { path: resolve(from, entry), later, apart: apart.map((each) => resolve(from, each)) }
  const used = name === undefined ? [] : await bundleBeside(first, { ...places, name })
  const lines = used.map((each) => {
    const [file, exported] = each.slice(1).split(':')
    return `export { ${exported} as ${JSON.stringify(each)} } from './${file}'\n`
  })
  await run([first.path], {
    ...places,
    plugins: [
      importedLater(first),
      replacing([first.path], async (path) => `${await readFile(path, 'utf8')}\n${lines.join('')}`),
    ],
  })
}

/** Writes what stands in `first.later`; gives the names that it imports from the package. */
async function bundleBeside(first, { name, ...places }) {
  const { metafile } = await run([first.path], {
    ...places,
    write: false,
    metafile: true,
    plugins: [importedLater(first)],
  })
  const held = Object.keys(metafile.inputs).map((path) => resolve(path))
  const names = await exportsOf(held)
  const { outputFiles } = await run([...first.later], {
    ...places,
    splitting: true,
    chunkNames: 'shared-[hash]',
    write: false,
    plugins: [
      leftApart(first, places.outbase),
      replacing(held, (path) => {
        const file = relative(places.outbase, path)
        const list = names.get(path).map((each) => `${JSON.stringify(`~${file}:${each}`)} as ${each}`)
        return list.length === 0 ? '' : `export { ${list.join(', ')} } from ${JSON.stringify(name)}\n`
      }),
    ],
  })
  for (const { path, contents } of outputFiles) {
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, contents)
  }
  return [...new Set(outputFiles.flatMap(({ text }) => text.match(/(?<=")~[\w./-]+:\w+(?=")/g) ?? []))].sort()
}

/** What each of `files` exports, by its path. */
async function exportsOf(files) {
  const { metafile } = await run(files, {
    bundle: false,
    packages: undefined,
    outdir: '.',
    write: false,
    metafile: true,
  })
  return new Map(Object.values(metafile.outputs).map((each) => [resolve(each.entryPoint), each.exports]))
}

/** Leaves `import()` of a file to run time, beside the bundle of `first`, and adds the file to `first.later`. */
function importedLater(first) {
  return {
    name: 'imported later',
    setup({ onResolve }) {
      onResolve({ filter: /^\.{1,2}\// }, ({ path, kind, resolveDir }) => {
        if (kind !== 'dynamic-import') return undefined
        const file = resolve(resolveDir, path)
        first.later.add(file)
        return { path: `./${relative(dirname(first.path), file)}`, external: true }
      })
    },
  }
}

/** Leaves `import()` of a file that is bundled apart to run time. Who imports one is in the folder of the sources. */
function leftApart({ apart }, folder) {
  return {
    name: 'left apart',
    setup({ onResolve }) {
      onResolve({ filter: /^\.{1,2}\// }, ({ path, kind, resolveDir }) => {
        const file = resolve(resolveDir, path)
        if (kind !== 'dynamic-import' || !apart.includes(file)) return undefined
        return { path: `./${relative(folder, file)}`, external: true }
      })
    },
  }
}

/** Reads `text(path)` in place of each of `files`. */
function replacing(files, text) {
  const replaced = new Set(files)
  return {
    name: 'replacing',
    setup({ onLoad }) {
      onLoad({ filter: /\.js$/ }, async ({ path }) =>
        replaced.has(path) ? { contents: await text(path), resolveDir: dirname(path) } : undefined,
      )
    },
  }
}

async function run(entryPoints, options) {
  const names = entryPoints.map((each) => relative('.', each)).join(', ')
  const result = await build({
    entryPoints,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    packages: 'external',
    charset: 'utf8',
    legalComments: 'inline',
    logLevel: 'silent',
    allowOverwrite: true,
    ...options,
  }).catch((error) => {
    throw new Error(`${names} could not be bundled: ${error.message}`)
  })
  const { warnings } = result
  if (warnings.length > 0) throw new Error(`${names}: ${warnings.map(({ text }) => text).join('; ')}`)
  return result
}
