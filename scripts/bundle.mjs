/**
 * The files that people import of a package's compiled sources, without the files behind them: importing 80 small ones
 * takes three quarters of the time that an app needs to start. Readable, in the order of the sources and without their
 * maps, so that a stack trace still leads somewhere.
 */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild-wasm'

/** Where a package has its compiled sources. */
const sources = 'dist/src'

/**
 * Writes each of `entries`, paths in `from`, and what it imports of the same package, to the same path in `to`; other
 * packages stay imports. What several entries need is in files they share: there is one of each class.
 */
export async function bundle(entries, from, to) {
  const { warnings } = await build({
    entryPoints: entries.map((entry) => join(from, entry)),
    outbase: join(from, sources),
    outdir: join(to, sources),
    bundle: true,
    splitting: entries.length > 1,
    chunkNames: 'dist/src/shared-[hash]',
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    packages: 'external',
    charset: 'utf8',
    legalComments: 'inline',
    logLevel: 'silent',
    allowOverwrite: true,
  }).catch(async (error) => {
    await Promise.all(entries.map((entry) => rm(join(to, entry), { force: true })))
    throw new Error(`${entries.join(', ')} could not be bundled: ${error.message}`)
  })
  if (warnings.length > 0) throw new Error(`${entries}: ${warnings.map(({ text }) => text).join('; ')}`)
}
