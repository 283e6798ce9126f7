/** Where things are, seen from `dist/src`. */
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** `lab`. */
export const packageFolder: string = fileURLToPath(new URL('../..', import.meta.url))
/** The repository. */
export const rootFolder: string = join(packageFolder, '..')
/** A folder for each server that is measured; `LAB_ENTRIES` names another. */
export const entriesFolder: string = resolve(process.env['LAB_ENTRIES'] ?? join(packageFolder, 'entries'))
const releaseFolder = join(resolve(rootFolder, process.env['CARGO_TARGET_DIR'] ?? 'target'), 'release')
/** What `cargo build --release -p volant-load` makes. */
export const nullServerPath: string = join(releaseFolder, 'null-server')
export const loadPath: string = join(releaseFolder, 'load')
export const socketsPath: string = join(releaseFolder, 'sockets')
export const serviceManagerPath: string = join(releaseFolder, 'service-manager')
/** Runs: the committed one, and those of this machine; `LAB_RESULTS` names another folder. */
export const resultsFolder: string = resolve(process.env['LAB_RESULTS'] ?? join(packageFolder, 'results'))
