/** The version of this package. */
import { createRequire } from 'node:module'

/** Gives it as package.json has it. */
export const version: string = (
  createRequire(import.meta.url)('../../../package.json') as { version: string }
).version
