/** Which names of files a path stands for: segment by segment, so that nothing in a segment can lead elsewhere. */

/**
 * Gives the decoded segments of a canonical path, which has been cut at the prefix of its folder; null where one of them
 * cannot be a name. An empty last one says that the path ends with a slash.
 */
export function namesOf(path: string, dotfiles: boolean, windows: boolean): string[] | null {
  const segments = path.split('/')
  const names: string[] = []
  for (const [at, segment] of segments.entries()) {
    const isLast = at === segments.length - 1
    const name = segment.includes('%') ? decodeURIComponent(segment) : segment
    if (name === '' ? !isLast : !isName(name, dotfiles, windows)) return null
    names.push(name)
  }
  return names
}

/** A slash of either kind, and the end of a C string. */
// oxlint-disable-next-line no-control-regex -- it is what is looked for
const separator = /[/\\\0]/

function isName(name: string, dotfiles: boolean, windows: boolean): boolean {
  if (separator.test(name) || name === '.' || name === '..') return false
  if (!dotfiles && name.startsWith('.')) return false
  return !windows || isWindowsName(name)
}

/** A drive, or a stream beside a file; characters that no name has. */
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const windowsForbidden = /[\x00-\x1f:*?"<>|]/
/** Devices, with any extension. The digits of COM and LPT may be superscript. */
const windowsDevice = /^(?:con|prn|aux|nul|conin\$|conout\$|clock\$|(?:com|lpt)[0-9¹²³])[ ]*(?:\.|$)/i
/** The short form of a longer name: GIT~1, INDEX~1.HTM. */
const windowsShort = /^[^.]{0,7}~[0-9]{1,6}(?:\.[^.]{0,3})?$/

/**
 * True where Windows reads the name as it is written. It drops dots and spaces at the end, so that `x.php.` is `x.php`
 * and a check of the extension is passed by.
 */
export function isWindowsName(name: string): boolean {
  return (
    !windowsForbidden.test(name) &&
    !/[. ]$/.test(name) &&
    !windowsDevice.test(name) &&
    !windowsShort.test(name)
  )
}
