/** A newer C library for Linux: the one of Debian 13, brought by apt into `.cache/glibc`, for servers of the lab alone. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './command.mjs'
import { withLock } from './lock.mjs'
import { capture } from './nodes.mjs'

const cache = join(root, '.cache/glibc')
const suite = 'trixie'
const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg'
const multiarch = process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu'

/**
 * The folder of `libc.so.6` and its loader, downloaded if it is not there yet. apt checks the signature of the archive.
 * Nothing is installed: a program runs with it only when its loader starts that program.
 */
export async function bringGlibc() {
  const folder = join(cache, suite)
  const libraries = join(folder, 'usr/lib', multiarch)
  await withLock(join(root, '.cache/glibc.lock'), async () => {
    if (existsSync(libraries)) return
    if (process.platform !== 'linux' || !existsSync(keyring)) {
      throw new Error('--newer-glibc needs apt and the package debian-archive-keyring')
    }
    console.log('Bringing the C library of Debian 13')
    mkdirSync(cache, { recursive: true })
    const temporary = mkdtempSync(join(cache, 'new-'))
    try {
      await download(temporary)
      const unpacked = join(temporary, 'unpacked')
      const archive = readdirSync(temporary).find((name) => name.endsWith('.deb'))
      await succeed('dpkg-deb', ['-x', join(temporary, archive), unpacked], temporary)
      rmSync(folder, { recursive: true, force: true })
      renameSync(unpacked, folder)
    } finally {
      rmSync(temporary, { recursive: true, force: true })
    }
  })
  return libraries
}

/** Into `folder`, with lists of packages of its own: those of the machine stay as they are. */
async function download(folder) {
  const sources = join(folder, 'sources.list')
  writeFileSync(sources, `deb [signed-by=${keyring}] http://deb.debian.org/debian ${suite} main\n`)
  for (const name of ['lists/partial', 'cache/archives/partial']) {
    mkdirSync(join(folder, name), { recursive: true })
  }
  const settings = {
    'Dir::Etc::SourceList': sources,
    'Dir::Etc::SourceParts': '-',
    'Dir::State::Lists': join(folder, 'lists'),
    'Dir::Cache': join(folder, 'cache'),
    'Acquire::Languages': 'none',
    'APT::Sandbox::User': '',
  }
  const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])
  await succeed('apt-get', [...options, '--quiet', 'update'], folder)
  await succeed('apt-get', [...options, '--quiet', 'download', `libc6/${suite}`], folder)
}

async function succeed(command, args, folder) {
  const { code, stdout, stderr } = await capture(command, args, folder)
  if (code !== 0) throw new Error(`${command} could not bring the C library:\n${stdout}${stderr}`)
}
