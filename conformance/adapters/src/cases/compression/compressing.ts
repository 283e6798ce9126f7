/** An app that compresses its replies, and files for it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { type App, etag } from 'volant'
import { compress, type CompressOptions } from 'volant/compress'
import type { Kit } from '../../kit.ts'

export const long = 'compressible '.repeat(10_000)
export const gzip = { 'accept-encoding': 'gzip' }

/** Gives a function that makes apps which compress and tag their replies. */
export function compressingOf(kit: Kit): (options?: CompressOptions) => App {
  return (options = {}) => {
    const app = kit.app()
    app.use(compress(options), etag())
    return app
  }
}

/** A folder with `small.txt` and `large.txt`, until the cases of the `describe` have run that this is called in. */
export function textFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'volant-'))
  writeFileSync(join(folder, 'small.txt'), 'compressible '.repeat(100))
  writeFileSync(join(folder, 'large.txt'), long)
  after(() => rmSync(folder, { recursive: true }))
  return folder
}
