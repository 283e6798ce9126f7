/** Where things are, seen from `dist/src`. */
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** `packages/lab`. */
export const packageFolder: string = fileURLToPath(new URL('../..', import.meta.url))
/** The repository. */
export const rootFolder: string = join(packageFolder, '../..')
/** The servers, with the packages of the rivals once they are installed. */
export const entriesFolder: string = join(packageFolder, 'entries')
/** What `cargo build --release -p volant-load` makes. */
export const nullServerPath: string = join(
  resolve(rootFolder, process.env['CARGO_TARGET_DIR'] ?? 'target'),
  'release/null-server',
)
