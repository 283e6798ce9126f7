/**
 * `npm run pack`: builds what is stale and writes the packages that people install to `.cache/packages`: the framework,
 * the engine, its binary for this platform, and the reference page. `--out FOLDER` writes them elsewhere.
 *
 * What is published is made here, beside the sources: the engine names its binaries as optional dependencies only in
 * the packed manifest, because in a checkout `npm ci` would look for them on the registry, and what people import is
 * bundled (`scripts/bundle.mjs`).
 */
import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { build, enginePath } from './build.mjs'
import { bundle } from './bundle.mjs'
import { output, root } from './command.mjs'

const platformsFolder = join(root, 'packages/engine/npm')
const platforms = readdirSync(platformsFolder).map((name) => readManifest(join(platformsFolder, name)))

/** Writes what is published to folders in `stage`; gives the folders. Everything has to be built. */
export async function stagePackages(stage) {
  const sources = [await stageSources(stage, 'volant'), await stageSources(stage, 'engine')]
  return [...sources, ...stageBinary(stage), stageFiles(stage, 'reference-page')]
}

/** The compiled sources as one file, and their types. */
async function stageSources(stage, name) {
  const from = join(root, 'packages', name)
  const { devDependencies: _, ...manifest } = readManifest(from)
  if (name === 'engine') {
    for (const { name: platform, version } of platforms) {
      if (version !== manifest.version)
        throw new Error(
          `${platform} is version ${version}, @volant/engine ${manifest.version}: they must be the same`,
        )
    }
    manifest.optionalDependencies = Object.fromEntries(platforms.map((each) => [each.name, each.version]))
  }
  const to = stagePackage(stage, name, manifest, from)
  for (const file of readdirSync(join(from, 'dist/src'), { recursive: true })) {
    // `tsc -b` leaves the output of deleted sources behind.
    if (!file.endsWith('.d.ts') || !existsSync(join(from, 'src', file.replace(/\.d\.ts$/, '.ts')))) continue
    const path = join(to, 'dist/src', file)
    mkdirSync(dirname(path), { recursive: true })
    // A map would point to files that are not in the package.
    const text = readFileSync(join(from, 'dist/src', file), 'utf8')
    writeFileSync(path, text.replace(/^\/\/# sourceMappingURL=.*\n?/m, ''))
  }
  const { first, alone, others, apart } = entriesOf(manifest)
  await bundle(first, from, to, { name: manifest.name, others, apart })
  for (const entry of [...alone, ...apart, ...(apart.length > 0 ? laterOfThem : [])])
    await bundle(entry, from, to)
  return to
}

/** A browser is given one file: what has nothing of the server shares nothing with it. */
const serverless = ['./client', './contract']

/** A supervisor stays for as long as the service, and should have nothing of the framework: they are its whole program. */
const supervisors = ['dist/src/cluster/command.js', 'dist/src/cluster/dev.js']
/** They import it when they need it. */
const laterOfThem = ['dist/src/cluster/control.js']

/** No import names these: a supervisor has Node.js load them in a worker. */
const loadedByPath = ['dist/src/worker/preload.js']

function entriesOf({ exports, bin = {} }) {
  const entries = Object.entries(exports).filter(([, target]) => target.default?.endsWith('.js'))
  const files = (kept) => entries.filter(([name]) => kept(name)).map(([, target]) => target.default)
  return {
    first: exports['.'].default,
    alone: files((name) => serverless.includes(name)),
    others: [
      ...files((name) => name !== '.' && !serverless.includes(name)),
      ...Object.values(bin),
      ...(bin.volant === undefined ? [] : loadedByPath),
    ],
    apart: bin.volant === undefined ? [] : supervisors,
  }
}

/**
 * Stages the binary without debug information and local symbols, which are three quarters of it. Stages nothing if the
 * binary could not be built.
 */
function stageBinary(stage) {
  const platform = `${process.platform}-${process.arch}${isGlibc() ? '-gnu' : ''}`
  const from = join(platformsFolder, platform)
  if (!existsSync(from)) return skip(`there is no package for ${platform}`)
  if (!existsSync(enginePath)) return skip('it is not built')
  const manifest = readManifest(from)
  const to = stagePackage(stage, platform, manifest, from)
  const binary = join(to, manifest.main)
  copyFileSync(enginePath, binary)
  if (output('strip', ['-S', '-x', binary]) === null)
    console.log('The binary keeps its debug information and is four times as large: strip was not found')
  return [to]
}

/** A package whose files are published as they are. */
function stageFiles(stage, name) {
  const from = join(root, 'packages', name)
  const manifest = readManifest(from)
  const to = stagePackage(stage, name, manifest, from)
  for (const file of manifest.files) copyFileSync(join(from, file), join(to, file))
  return to
}

function stagePackage(stage, folder, manifest, from) {
  const to = join(stage, folder)
  mkdirSync(to)
  writeFileSync(join(to, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  copyFileSync(join(from, 'README.md'), join(to, 'README.md'))
  copyFileSync(join(root, 'LICENSE'), join(to, 'LICENSE'))
  return to
}

function pack(stage, out, folders) {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', out, ...folders]
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd: stage, encoding: 'utf8' })
  if (status !== 0) throw new Error(`npm pack failed: ${stderr}`)
  for (const { filename, size, unpackedSize, entryCount } of Object.values(JSON.parse(stdout))) {
    const sizes = `${number(size)} bytes packed, ${number(unpackedSize)} unpacked, ${entryCount} files`
    console.log(`${join(out, filename)}: ${sizes}`)
  }
}

function skip(reason) {
  console.log(`The engine's binary is not packed: ${reason}`)
  return []
}

function isGlibc() {
  return process.platform === 'linux' && process.report.getReport().header.glibcVersionRuntime !== undefined
}

function readManifest(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}

function number(value) {
  return value.toLocaleString('en-US')
}

if (process.argv[1] && realpathSync(process.argv[1]) === import.meta.filename) {
  const at = process.argv.indexOf('--out')
  const out = at < 0 ? join(root, '.cache/packages') : resolve(process.argv[at + 1] ?? '')
  const stage = mkdtempSync(join(tmpdir(), 'volant-pack-'))
  try {
    await build()
    if (at < 0) rmSync(out, { recursive: true, force: true })
    mkdirSync(out, { recursive: true })
    pack(stage, out, await stagePackages(stage))
  } catch (error) {
    console.error(error.message)
    process.exitCode = 1
  } finally {
    rmSync(stage, { recursive: true, force: true })
  }
}
