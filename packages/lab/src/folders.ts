/** Where things are, seen from `dist/src`. */
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** `packages/lab`. */
export const packageFolder: string = fileURLToPath(new URL('../..', import.meta.url))
/** The repository. */
export const rootFolder: string = join(packageFolder, '../..')
/** A folder for each server that is measured. */
export const entriesFolder: string = join(packageFolder, 'entries')
const releaseFolder = join(resolve(rootFolder, process.env['CARGO_TARGET_DIR'] ?? 'target'), 'release')
/** What `cargo build --release -p volant-load` makes. */
export const nullServerPath: string = join(releaseFolder, 'null-server')
export const loadPath: string = join(releaseFolder, 'load')
/** Runs: the committed one, and those of this machine. */
export const resultsFolder: string = join(packageFolder, 'results')
