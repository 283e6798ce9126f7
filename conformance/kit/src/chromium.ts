/** Finds Chromium on this machine. */
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The path of Chromium; undefined if it is not installed. */
export const chromiumPath: string | undefined = [
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
]
  .flatMap((name) => (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name)))
  .find(isExecutable)

/** The reason to skip tests that need Chromium; false if they run. */
export const withoutChromium: string | false = chromiumPath === undefined && 'Chromium is not installed'

/** The options of every launch of Chromium in a container: as root it has no sandbox, and /dev/shm may be small. */
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
