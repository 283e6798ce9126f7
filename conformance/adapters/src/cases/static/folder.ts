/** Folders of files, served by `app.static`. */
import { execFileSync } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdirSync, realpathSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before } from 'node:test'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import type { App } from 'volant'
import type { Kit, Live } from '../../kit.ts'

export const style = 'body { color: red }\n'

export const written = new Date('2024-02-29T12:34:56.000Z')

export const large = randomBytes(3_000_001)

export const script = 'export const answer = 42 // '.repeat(100)

/** What a case serves a folder with: an app that `build` makes. */
export type Serve = (build: (app: App) => void, run: (live: Live) => Promise<void>) => Promise<void>

/** Makes a folder of files before the cases of a `describe`, and removes it after them. `root` is what they serve of it. */
export function publicFolder(kit: Kit): { folder: string; root: string; serve: Serve } {
  const folder = join(realpathSync(tmpdir()), `volant-${randomUUID()}`)
  const root = join(folder, 'public')
  before(() => fill(folder, root))
  after(() => rmSync(folder, { recursive: true }))
  const serve: Serve = async (build, run) => {
    const app = kit.app()
    build(app)
    await kit.serve(app, run)
  }
  return { folder, root, serve }
}

export function fill(folder: string, root: string): void {
  for (const name of ['css', 'docs', 'empty', '.git', '.well-known', 'a.b']) {
    mkdirSync(join(root, name), { recursive: true })
  }
  writeFileSync(join(root, 'index.html'), '<h1>index</h1>')
  writeFileSync(join(root, 'about.html'), '<h1>about</h1>')
  writeFileSync(join(root, 'docs', 'index.html'), '<h1>docs</h1>')
  writeFileSync(join(root, 'a.b', 'index.html'), '<h1>a.b</h1>')
  writeFileSync(join(root, 'css', 'site.css'), style)
  writeFileSync(join(root, 'css', 'ä b.css'), style)
  writeFileSync(join(root, 'nothing.txt'), '')
  writeFileSync(join(root, 'large.bin'), large)
  writeFileSync(join(root, '.env'), 'secret')
  writeFileSync(join(root, '.well-known', 'security.txt'), 'contact')
  writeFileSync(join(folder, 'outside.txt'), 'secret')
  writeFileSync(join(root, 'app.js'), script)
  writeFileSync(join(root, 'app.js.br'), brotliCompressSync(script))
  writeFileSync(join(root, 'app.js.gz'), gzipSync(script))
  writeFileSync(join(root, 'old.js'), script)
  writeFileSync(join(root, 'old.js.br'), 'an older version')
  symlinkSync(join(folder, 'outside.txt'), join(root, 'out.txt'))
  symlinkSync(folder, join(root, 'up'))
  symlinkSync('.env', join(root, 'env.txt'))
  symlinkSync('css', join(root, 'styles'))
  execFileSync('mkfifo', [join(root, 'pipe')])
  for (const name of ['css/site.css', 'large.bin']) utimesSync(join(root, name), written, written)
  utimesSync(join(root, 'old.js.br'), written, written)
}
