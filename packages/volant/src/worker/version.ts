/** The version of this package. */
import { createRequire } from 'node:module'

/** Gives it as package.json has it. The package goes by its name: what is published has this file in a bundle. */
export const version: string = (createRequire(import.meta.url)('volant/package.json') as { version: string })
  .version
