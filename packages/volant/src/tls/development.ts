/** `volant cert`: makes a certificate for development, and the authority that browsers are told to trust. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { isAbsolute, join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { shortAddress } from './identity.ts'
import { type Issued, issue } from './issue.ts'

const day = 86_400_000
/** Apple's platforms accept no certificate that is valid for longer than 825 days. */
const authorityDays = 730
const certificateDays = 90
/** A certificate with fewer days left than this is replaced. */
const renewalDays = 30

/**
 * The names for which the authority may sign: names that no public server has (RFC 6761, RFC 6762), and this machine.
 * So a stolen key cannot be used to read other traffic of those who trust the authority.
 */
const permitted = ['localhost', 'local', 'test', '127.0.0.0/8', '::1/128'] as const
const authorityName = 'Volant development'
const keyFiles = ['ca-key.pem', 'key.pem'] as const
const usual = ['localhost', '127.0.0.1', '::1'] as const

/** Runs the command, and gives its exit code. */
export function cert(args: string[], usage: string): number {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        out: { type: 'string', short: 'o', default: '.cert' },
        help: { type: 'boolean', short: 'h' },
      },
    })
    if (values.help === true) {
      process.stdout.write(usage)
      return 0
    }
    process.stdout.write(make(resolve(values.out), positionals))
    return 0
  } catch (error) {
    process.stderr.write(`volant: ${error instanceof Error ? error.message : String(error)}\n`)
    return 1
  }
}

/**
 * Writes the missing files in `folder`, and gives a text with the next steps. Throws if it would overwrite files
 * that it has not made.
 */
export function make(folder: string, more: readonly string[]): string {
  const now = Date.now()
  const asked = more.map(checkName)
  const [oldAuthority, old] = [find(folder, 'ca'), find(folder, 'cert')]
  const names = [...new Set([...usual, ...namesOf(old?.certificate), ...asked])]
  mkdirSync(folder, { recursive: true })
  const isIgnored = ignore(join(folder, '.gitignore'))
  const isTrusted = lasts(oldAuthority, (authorityDays / 2) * day, now)
  const signer = isTrusted ? oldAuthority : issueAuthority(folder, now)
  const isKept =
    isTrusted &&
    lasts(old, renewalDays * day, now) &&
    old.certificate.checkIssued(signer.certificate) &&
    names.every((name) => serves(old.certificate, name))
  if (!isKept) {
    const notAfter = new Date(now + certificateDays * day)
    write(folder, 'cert', issue({ name: 'localhost', names, use: 'server', issuer: signer, notAfter }))
  }
  const file = (name: string): string => join(folder, name)
  return [
    `${isKept ? 'kept' : 'wrote'} ${file('cert.pem')} and ${file('key.pem')}, for ${names.join(', ')}`,
    `${isTrusted ? 'kept' : 'wrote'} ${file('ca.pem')}, the authority that issued it${isTrusted ? '. To trust it:' : '; trust it once:'}`,
    '',
    ...trusting(file('ca.pem')),
    '',
    `Keep ca-key.pem to yourself. In the app: tls: { cert: readFileSync(${quoted(file('cert.pem'))}), key: readFileSync(${quoted(file('key.pem'))}) }`,
    ...(isIgnored ? [] : [`${file('.gitignore')} is left as it is: have it name ${keyFiles.join(' and ')}`]),
    '',
  ].join('\n')
}

/**
 * Writes a .gitignore, so that the keys do not get into a repository. Gives false if there is one that does not name
 * them.
 */
function ignore(file: string): boolean {
  if (!existsSync(file)) writeFileSync(file, '*\n')
  const lines = readFileSync(file, 'utf8').split(/\r?\n/)
  return ['*', '*.pem'].some((each) => lines.includes(each)) || keyFiles.every((each) => lines.includes(each))
}

/** Gives the path as a string literal for a program that runs in the working directory. */
function quoted(file: string): string {
  const near = relative(process.cwd(), file)
  return `'${(near.startsWith('..') || isAbsolute(near) ? file : near).replaceAll('\\', '/')}'`
}

function checkName(name: string): string {
  const lower = name.toLowerCase()
  const isOwn =
    isIP(lower) === 4
      ? lower.startsWith('127.')
      : lower === '::1' || /^(?:\*\.)?(?:[a-z0-9_-]+\.)*(?:localhost|local|test)$/.test(lower)
  if (isOwn && /^\*\.[a-z]+$/.test(lower))
    throw new Error(
      `${name}: clients accept no wildcard right below a top-level name. Write *.shop${lower.slice(1)}, or each name`,
    )
  if (isOwn) return lower
  throw new Error(
    `${name}: a development certificate is for localhost, names that end in .localhost, .local or .test, and loopback addresses (127.0.0.0/8, ::1). For other devices take a name that ends in .local. Other names get theirs from an authority that everybody trusts, such as Let's Encrypt`,
  )
}

function serves(certificate: X509Certificate, name: string): boolean {
  if (isIP(name) !== 0) return certificate.checkIP(name) !== undefined
  return (certificate.subjectAltName ?? '').split(', ').includes(`DNS:${name}`)
}

function keyFileOf(name: 'ca' | 'cert'): string {
  return keyFiles[name === 'ca' ? 0 : 1]
}

function namesOf(certificate: X509Certificate | undefined): string[] {
  const entries = certificate?.subjectAltName?.split(', ') ?? []
  return entries.map((each) => shortAddress(each.replace(/^(?:DNS|IP Address):/, '')))
}

/** Gives a certificate with its key; null if there is none. Throws for files that this command has not made. */
function find(folder: string, name: 'ca' | 'cert'): Issued | null {
  const [file, keyFile] = [join(folder, `${name}.pem`), join(folder, keyFileOf(name))]
  const elsewhere = 'choose another folder with --out'
  if (!existsSync(file)) {
    if (!existsSync(keyFile)) return null
    throw new Error(
      `${keyFile} has no ${name}.pem beside it, and is left as it is: delete it, or ${elsewhere}`,
    )
  }
  const parse = <T>(path: string, read: (text: Buffer) => T): T => {
    try {
      return read(readFileSync(path))
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      throw new Error(
        `${path} cannot be read: ${reason}. If volant cert made it, delete ${name}.pem and ${keyFileOf(name)}, and run this again; else ${elsewhere}`,
        { cause: error },
      )
    }
  }
  const certificate = parse(file, (text) => new X509Certificate(text))
  if (!certificate.issuer.includes(`CN=${authorityName}`))
    throw new Error(`${file} was not made by volant cert, and is left as it is: ${elsewhere}`)
  if (!existsSync(keyFile)) return null
  const key = parse(keyFile, createPrivateKey)
  if (certificate.checkPrivateKey(key)) return { certificate, key }
  throw new Error(
    `${keyFile} is not the key of ${name}.pem, and is left as it is: delete both, or ${elsewhere}`,
  )
}

/** Returns true when the certificate exists, and is valid for `least` ms more. */
function lasts(issued: Issued | null, least: number, now: number): issued is Issued {
  return issued !== null && new Date(issued.certificate.validTo).getTime() - now > least
}

function issueAuthority(folder: string, now: number): Issued {
  const made = issue({
    name: `${authorityName} on ${hostname()
      .replace(/[^A-Za-z0-9.-]/g, '-')
      .slice(0, 30)}`,
    use: 'authority',
    permitted,
    notAfter: new Date(now + authorityDays * day),
  })
  write(folder, 'ca', made)
  return made
}

function write(folder: string, name: 'ca' | 'cert', { certificate, key }: Issued): void {
  replace(join(folder, keyFileOf(name)), key.export({ type: 'pkcs8', format: 'pem' }) as string, 0o600)
  replace(join(folder, `${name}.pem`), certificate.toString(), 0o644)
}

/** Writes a new file and renames it, because an existing file would keep its mode. */
function replace(file: string, text: string, mode: number): void {
  const aside = `${file}.new`
  rmSync(aside, { force: true })
  writeFileSync(aside, text, { mode, flag: 'wx' })
  renameSync(aside, file)
}

function trusting(file: string): string[] {
  if (process.platform === 'darwin')
    return [
      `  security add-trusted-cert -r trustRoot -p ssl -k ~/Library/Keychains/login.keychain-db '${file}'`,
    ]
  if (process.platform === 'win32') return [`  certutil -user -addstore Root "${file}"`]
  return [
    'Chromium (certutil is in the package libnss3-tools or nss-tools):',
    '  mkdir -p $HOME/.pki/nssdb',
    '  test -e $HOME/.pki/nssdb/cert9.db || certutil -d sql:$HOME/.pki/nssdb -N --empty-password',
    `  certutil -d sql:$HOME/.pki/nssdb -A -t C,, -n volant -i '${file}'`,
    'Firefox: Settings, Certificates, Authorities, Import',
    'Debian, for curl and others:',
    `  sudo cp '${file}' /usr/local/share/ca-certificates/volant.crt && sudo update-ca-certificates`,
    'Fedora:',
    `  sudo trust anchor '${file}'`,
    'One program alone:',
    `  NODE_EXTRA_CA_CERTS='${file}' node client.js`,
    `  curl --cacert '${file}' https://localhost:8443`,
  ]
}
