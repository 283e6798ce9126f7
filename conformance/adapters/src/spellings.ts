/** Spellings of paths by which somebody may try to leave a folder, or to get around middleware of a path. */

/** The parent folder as servers were made to read it; the last ones look like dots, or are cut off by C. */
const parents = [
  '..',
  '%2e%2e',
  '%2E%2e',
  '.%2E',
  '%2e.',
  '%252e%252e',
  '%25252e%25252e',
  '%%32%65%%32%65',
  '%c0%ae%c0%ae',
  '%e0%80%ae%e0%80%ae',
  '%f0%80%80%ae%f0%80%80%ae',
  '%uff0e%uff0e',
  '%u002e%u002e',
  '%ef%bc%8e%ef%bc%8e',
  '\uff0e\uff0e',
  '%e2%80%a4%e2%80%a4',
  '%e2%80%a5',
  '%e2%80%a6',
  '.%e2%80%8b.',
  '.%c2%ad.',
  '..;',
  '..%3b',
  '..;a=1',
  '..%00',
  '%00..',
  '.%00.',
  '..%20',
  '.. ',
  '..%09',
  '..%0a',
  '..%0d%0a',
  '...',
  '....',
  '..%2e',
  '.',
  '%2e',
  '~',
  '',
]

/** What stands between segments, as servers were made to read it. */
const separators = [
  '/',
  '%2f',
  '%2F',
  '\\',
  '%5c',
  '%5C',
  '%252f',
  '%255c',
  '%25252F',
  '%%32%66',
  '//',
  '///',
  '/./',
  '/%2e/',
  '/;/',
  '%c0%af',
  '%c1%9c',
  '%e0%80%af',
  '%f0%80%80%af',
  '%ef%bc%8f',
  '\uff0f',
  '%e2%88%95',
  '%e2%81%84',
  '%u2215',
  '%u005c',
  '/\\',
  '%00/',
  '/%00',
]

/** Names that lead elsewhere by themselves, on some system. */
const names = [
  'C:',
  'C:/Windows/win.ini',
  'c%3a/secret.txt',
  'C|/secret.txt',
  '//localhost/c$/secret.txt',
  '%5c%5clocalhost%5cc$%5csecret.txt',
  '\\\\?\\C:\\secret.txt',
  '%5c%5c.%5cpipe%5csecret',
  'file:///etc/passwd',
  'file:%2f%2f/etc/passwd',
  '/etc/passwd',
  '%2fetc%2fpasswd',
  'etc/passwd%00.html',
  'proc/self/environ',
  'index.html::$DATA',
  'index.html%3a%3a$DATA',
  'index.html.',
  'index.html%20',
  'index.html%2e',
  'INDEX~1.HTM',
  'PUBLIC~1/secret.txt',
  'GIT~1/config',
  'ENV~1',
  'con',
  'aux.txt',
  'NUL',
  'com1',
  'lpt%C2%B9',
  '.env',
  '%2eenv',
  '%2Eenv',
  '.env/',
  '.env%00',
  '.env%00.html',
  '.env%20',
  '.env.',
  '.env;.html',
  './.env',
  '%252eenv',
  '.ENV',
  '/.env',
  '%2f.env',
  '%5c.env',
  '.git/config',
  '.git%2fconfig',
  '.git%5cconfig',
  '%2egit/config',
  '.git',
  '.git/',
  'css/.git/config',
  'out.txt',
  'out.txt/',
  'out.txt%00',
  'up/secret.txt',
  'up//secret.txt',
  'up%2fsecret.txt',
  'up/public-not/secret.txt',
  'up/public/.env',
  'up/up/secret.txt',
  'env.txt',
  'git/config',
  'around/up/secret.txt',
  '-not/secret.txt',
  '%2d%6eot/secret.txt',
  '..-not/secret.txt',
]

const targets = ['secret.txt', 'public-not/secret.txt', 'public/.env', 'public-not/../secret.txt'] as const

/** Gives paths below a prefix, without the slash at its beginning; each once. */
export function traversals(): string[] {
  const found = new Set(names)
  let turn = 0
  const target = (): string => targets[turn++ % targets.length] as string
  for (const parent of parents) {
    for (const separator of separators) {
      found.add(`${parent}${separator}${target()}`)
      if (turn % 3 === 0) found.add(`css${separator}${parent}${separator}${parent}${separator}${target()}`)
      if (turn % 5 === 0) found.add(`${separator}${parent}${separator}${target()}`)
    }
  }
  // Deep ones, which end at the root of the file system.
  for (const up of ['../', '%2e%2e/', '..%2f', '..%5c', '%2e%2e%2f', '..\\'])
    found.add(`${up.repeat(20)}etc/passwd`)
  return [...found]
}

/** Gives spellings of a path that some reader takes for `segments`, all with the slash at the beginning. */
export function spellingsOf(...segments: readonly string[]): string[] {
  const plain = `/${segments.join('/')}`
  const found = new Set<string>()
  const each = (change: (segment: string, at: number) => string): void => {
    for (let at = 0; at < segments.length; at++) {
      found.add(
        `/${segments.map((segment, index) => (index === at ? change(segment, at) : segment)).join('/')}`,
      )
    }
    found.add(`/${segments.map(change).join('/')}`)
  }
  const hex = (text: string): string =>
    [...text].map((char) => `%${char.charCodeAt(0).toString(16)}`).join('')
  each((segment) => hex(segment))
  each((segment) => hex(segment).toUpperCase())
  each((segment) => hex(segment[0] as string) + segment.slice(1))
  each((segment) => hex(segment).replaceAll('%', '%25'))
  each((segment) => segment.toUpperCase())
  for (const end of [
    ';',
    ';a=1',
    '%3b',
    '%20',
    '%00',
    '.',
    '%2e',
    '%09',
    '%c2%ad',
    '?',
    '#',
    '%3f',
    '%23',
    '::$DATA',
  ]) {
    each((segment) => segment + end)
  }
  for (const start of ['/', './', '%2e/', 'x/../', 'x/%2e%2e/', ';/', '%2f', '%5c', '\\', '%00', '%20']) {
    each((segment) => start + segment)
  }
  for (const separator of separators) {
    found.add(`/${segments.join(separator)}`)
    for (let at = 1; at < segments.length; at++) {
      found.add(`/${segments.slice(0, at).join('/')}${separator}${segments.slice(at).join('/')}`)
    }
  }
  found.delete(plain)
  return [...found]
}
