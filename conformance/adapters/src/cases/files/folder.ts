/** The folder of files that are sent, or must not be, and an app that sends them. */
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before } from 'node:test'
import type { App } from 'volant'
import type { Kit, Live } from '../../kit.ts'

export const hello = 'hello, file\n'
export const written = new Date('2024-02-29T12:34:56.789Z')
export const modified = 'Thu, 29 Feb 2024 12:34:56 GMT'

export interface Folder {
  /** What no request may leave `root` for. */
  readonly folder: string
  readonly root: string
  /** The content of `large.bin`. */
  readonly large: Buffer
  /** An app that sends the files. */
  build(): App
  /** Serves such an app while `run` runs. */
  serve(run: (live: Live) => Promise<void>): Promise<void>
}

/** The files are there while the cases of the `describe` run that this is called in. */
export function folderOf(kit: Kit): Folder {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'volant-')))
  const root = join(folder, 'public')
  const large = randomBytes(3_000_001)
  before(() => {
    mkdirSync(join(root, 'sub', '.git'), { recursive: true })
    mkdirSync(join(folder, 'public-not'))
    writeFileSync(join(root, 'a.txt'), hello)
    writeFileSync(join(root, 'empty.css'), '')
    writeFileSync(join(root, 'large.bin'), large)
    writeFileSync(join(root, 'sub', '.git', 'config'), 'secret')
    writeFileSync(join(root, '.env'), 'secret')
    writeFileSync(join(folder, 'outside.txt'), 'secret')
    writeFileSync(join(folder, 'public-not', 'x.txt'), 'secret')
    symlinkSync(join(folder, 'outside.txt'), join(root, 'out.txt'))
    symlinkSync(folder, join(root, 'up'))
    symlinkSync(join(root, 'a.txt'), join(root, 'in.txt'))
    symlinkSync(join(root, '.env'), join(root, 'env.txt'))
    symlinkSync(join('sub', '.git'), join(root, 'git'))
    symlinkSync('loop', join(root, 'loop'))
    execFileSync('mkfifo', [join(root, 'pipe')])
    for (const name of ['a.txt', 'large.bin']) utimesSync(join(root, name), written, written)
  })
  after(() => rmSync(folder, { recursive: true }))
  const build = (): App => {
    const app = kit.app()
    app.get('/f/*path', (ctx) => ctx.file(ctx.params.path, { root }))
    app.get('/dot/*path', (ctx) => ctx.file(ctx.params.path, { root, dotfiles: true }))
    app.get('/in/*path', (ctx) => ctx.file(ctx.params.path, { root: join(root, 'sub', '.git') }))
    app.get('/q', (ctx) => ctx.file(String(ctx.query['name']), { root }))
    app.get('/one', (ctx) => ctx.file(join(root, 'a.txt')))
    return app
  }
  return { folder, root, large, build, serve: (run) => kit.serve(build(), run) }
}
