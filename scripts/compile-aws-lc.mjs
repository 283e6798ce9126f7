/**
 * Compiles AWS-LC once for all builds of `.ci/run`: for the engine, for tests and clippy, and for AddressSanitizer. Each
 * build script of aws-lc-sys would compile the same C code, for 75 s of processor time and more. `.cargo/config.toml`, which
 * git ignores, gives cargo the library in place of that script (Cargo Book, "Overriding Build Scripts"); a version of
 * aws-lc-sys that the file does not name is compiled as ever.
 *
 * A checkout that has builds already keeps them as they are: cargo would make all of them anew.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { output, root, run } from './command.mjs'

const config = join(root, '.cargo/config.toml')
const target = resolve(root, process.env.CARGO_TARGET_DIR ?? 'target')
/** Outside of the target folder: `cargo clean` must not take away what the configuration names. */
const own = join(root, '.cache/aws-lc')

/** The first line of the file that this script writes. People have files of this name as well, and git ignores them. */
const note =
  '# Written by scripts/compile-aws-lc.mjs for .ci/run. Delete this file if the checkout was moved.\n'

const written = existsSync(config) ? readFileSync(config, 'utf8') : null
// The library that it names has been deleted.
if (written?.startsWith(note) && !existsSync(own)) rmSync(config)
if (written !== null && !written.startsWith(note)) {
  console.log(`${config} is not of this script: each build compiles AWS-LC for itself`)
} else if (existsSync(config) || existsSync(join(target, 'debug')) || existsSync(join(target, 'release'))) {
  console.log('There are builds already')
} else {
  process.exitCode = await compile()
}

async function compile() {
  const code = await run('cargo', [
    'build',
    '--release',
    '--locked',
    '--package',
    'aws-lc-sys',
    '--target-dir',
    own,
  ])
  if (code !== 0) return code
  const host = /^host: (.+)$/m.exec(output('rustc', ['-vV']))[1]
  const folder = join(own, 'release/build')
  const said = readdirSync(folder)
    .map((name) => join(folder, name, 'output'))
    .find((path) => path.includes('/aws-lc-sys-') && existsSync(path))
  const lines = [...readFileSync(said, 'utf8').matchAll(/^cargo:(?!warning|rerun)([\w-]+)=(.*)$/gm)]
  const links = /^links = "(.+)"$/m.exec(manifestOf('aws-lc-sys'))[1]
  mkdirSync(join(root, '.cargo'), { recursive: true })
  writeFileSync(config, `${note}[target.${host}.${links}]\n${tableOf(lines)}`)
  console.log(`cargo takes ${links} from ${own}`)
  return 0
}

function manifestOf(name) {
  const { packages } = JSON.parse(output('cargo', ['metadata', '--format-version', '1', '--locked']))
  return readFileSync(packages.find((each) => each.name === name).manifest_path, 'utf8')
}

/** Gives the table of TOML. Keys for rustc may come several times and are lists; the others are for scripts of other crates. */
function tableOf(lines) {
  const lists = new Map()
  for (const [, key, value] of lines) lists.set(key, [...(lists.get(key) ?? []), value])
  return [...lists]
    .map(([key, values]) => {
      const value = key.startsWith('rustc-') ? values : values.at(-1)
      return `${key} = ${JSON.stringify(value)}\n`
    })
    .join('')
}
