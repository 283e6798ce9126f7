/** Listens with node:net, and explains errors of listening. */
import { once } from 'node:events'
import { fstatSync, lstatSync, readFileSync, unlinkSync } from 'node:fs'
import { connect, type Server } from 'node:net'
import { type Address, addressOf, type ListenOptions } from '@volant/engine'
import { VolantError } from '../errors/errors.ts'

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
/** Older versions of node:net accept the option and ignore it. */
const hasReusePort = major > 23 || (major === 23 && minor >= 1) || (major === 22 && minor >= 12)

/** An error of the system with a sentence that says what to do. `code` is the system's, for example EADDRINUSE. */
export class ListenError extends VolantError {
  override readonly code: never

  constructor(code: string, message: string, cause: unknown) {
    super('E_LISTEN', message, { cause })
    this.name = 'ListenError'
    this.code = code as never
  }
}

/** Listens as `options` say. Rejects with a `ListenError`, and with `E_UNSUPPORTED` where `reusePort` is missing. */
export async function listenOn(server: Server, options: ListenOptions): Promise<Address> {
  if (options.reusePort && !hasReusePort) {
    throw new VolantError(
      'E_UNSUPPORTED',
      `reusePort on node:http needs Node.js 22.12 or 23.1, and this is ${process.versions.node}: leave it out, or use the adapter native`,
    )
  }
  try {
    await attempt(server, options)
  } catch (error) {
    if (options.path === undefined || codeOf(error) !== 'EADDRINUSE' || !(await isStale(options.path))) {
      throw explain(error, options)
    }
    unlinkSync(options.path)
    await attempt(server, options).catch((again: unknown) => {
      throw explain(again, options)
    })
  }
  return addressAfter(server, options.fd)
}

async function attempt(server: Server, options: ListenOptions): Promise<void> {
  const { fd, path, port = 0, host, backlog = 511, ipv6Only = false, reusePort = false } = options
  if (fd !== undefined) server.listen({ fd })
  else if (path !== undefined) server.listen({ path, backlog })
  else server.listen({ port, backlog, ipv6Only, reusePort, ...(host !== undefined && { host }) })
  // It rejects with the event `error`, which comes in a later tick as well.
  await once(server, 'listening')
}

/** Tells whether nobody listens on a socket file, because the process that made it was killed. */
function isStale(path: string): Promise<boolean> {
  if (!lstatSync(path).isSocket()) return Promise.resolve(false)
  return new Promise((resolve) => {
    const probe = connect(path)
    probe.once('connect', () => {
      probe.destroy()
      resolve(false)
    })
    probe.once('error', (error) => resolve(codeOf(error) === 'ECONNREFUSED'))
  })
}

function addressAfter(server: Server, fd: number | undefined): Address {
  const address = server.address()
  if (typeof address === 'string') return addressOf({ path: address })
  if (address === null) return addressOf({ path: fd === undefined ? null : fileOf(fd) })
  return addressOf({ host: address.address, port: address.port })
}

/** Gives the file of a Unix socket that node:net did not bind, and so does not know. Null where it cannot be found. */
function fileOf(fd: number): string | null {
  try {
    const inode = String(fstatSync(fd).ino)
    // Num RefCount Protocol Flags Type St Inode Path (proc(5))
    const row = readFileSync('/proc/net/unix', 'utf8')
      .split('\n')
      .find((line) => line.split(/ +/)[6] === inode)
    return row?.split(/ +/).slice(7).join(' ') || null
  } catch {
    return null
  }
}

/**
 * Throws where a port cannot be shared: on those systems the last process to listen gets every connection, or the
 * option does not exist.
 */
export function refuseSharing(adapter: string, { reusePort }: ListenOptions): void {
  if (!reusePort || process.platform === 'linux') return
  throw new VolantError(
    'E_UNSUPPORTED',
    `reusePort on the adapter ${adapter} needs Linux, and this is ${process.platform}: run one process per port`,
  )
}

const lacksRights =
  'needs rights this process does not have: ports below 1024 usually do. Listen at another that the system or a proxy sends them on to, or give the process CAP_NET_BIND_SERVICE'

/** The problem with an address, by the system's error code. */
const faults: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use: stop the process that has it, or choose another',
  EACCES: lacksRights,
  EPERM: lacksRights,
  EADDRNOTAVAIL: 'cannot be listened on: this machine does not have that address',
  ENOTSUP: 'cannot be shared: this system has no reusePort',
  ENOTFOUND: 'cannot be listened on: the host name is not known',
  EAI_AGAIN: 'cannot be listened on: the host name is not known',
}

/** Gives the error with a sentence on what to do about it. */
export function explain(error: unknown, { fd, path, port = 0, host, reusePort }: ListenOptions): Error {
  if (fd !== undefined) return new ListenError(codeOf(error), notListening(fd), error)
  const place = path ?? `port ${port}${host === undefined ? '' : ` of ${host}`}`
  const code = codeOf(error)
  const fault =
    faults[code] ?? `cannot be listened on: ${error instanceof Error ? error.message : String(error)}`
  const advice =
    code === 'EADDRINUSE' && reusePort
      ? '. Processes share a port if all of them set reusePort and run as one user'
      : ''
  return new ListenError(code, `${place} ${fault}${advice}`, error)
}

function notListening(fd: number): string {
  return `the descriptor ${fd} is no socket that listens: systemd passes such sockets from 3 on (LISTEN_FDS says how many), other programs as their documents say`
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'E_LISTEN'
}
