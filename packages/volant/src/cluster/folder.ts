/** The folder that the process was started in. */
import { realpathSync } from 'node:fs'

/**
 * Gives it as the shell names it. Node.js gives the folder behind all links, and a deployment that moves a link would not
 * be seen.
 */
export function currentFolder(): string {
  const current = process.cwd()
  const named = process.env['PWD']
  try {
    if (named !== undefined && realpathSync(named) === current) return named
  } catch {
    // The variable is from elsewhere.
  }
  return current
}
