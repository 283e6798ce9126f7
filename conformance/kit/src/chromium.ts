/** Where Chromium is on this machine. */
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The path of Chromium, or undefined. */
export const chromiumPath: string | undefined = [
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
]
  .flatMap((name) => (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name)))
  .find(isExecutable)

/** Why tests that need Chromium are skipped here; false where they run. */
export const withoutChromium: string | false = chromiumPath === undefined && 'Chromium is not installed'

/** The options that every launch of Chromium in a container needs: as root there is no sandbox, and /dev/shm may be small. */
export const chromiumOptions = {
  executablePath: chromiumPath as string,
  chromiumSandbox: false,
  args: ['--disable-dev-shm-usage', '--disable-gpu'],
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
