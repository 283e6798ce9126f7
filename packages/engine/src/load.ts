/** Finds the engine's binary and checks that it belongs to this package. */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { layoutHash } from './generated/layout.ts'
import type { TlsVersion } from './tls.ts'

/** Version, cipher suite, ALPN, server name, whether a session was resumed, and the client's certificate. */
export type TlsAnswer = [
  version: TlsVersion,
  cipher: string,
  alpn: string | null,
  serverName: string | null,
  resumed: boolean,
  peer: Buffer | null,
]

/** The functions of one thread's engine. `crates/node/src/exports.rs` defines them. */
export interface Binding {
  createServer(
    limits: Float64Array,
    caseSensitive: boolean,
    ignoreTrailingSlash: boolean,
    methods: readonly string[],
    routes: (number | string | boolean)[],
    sockets: Float64Array,
  ): number
  listen(
    server: number,
    host: string,
    port: number,
    path: string | null,
    backlog: number,
    ipv6Only: boolean,
    reusePort: boolean,
    http2: boolean,
  ): { host?: string; port?: number; path?: string }
  /** Listens on a socket that listens already. */
  listenFd(server: number, fd: number, http2: boolean): { host?: string; port?: number; path?: string }
  /** Has the server get the connections of a listener of the supervisor. */
  listenPassed(server: number, listener: number, http2: boolean): void
  /** Has connections come by this end of a pair. */
  attach(fd: number): void
  close(server: number, drainIdle: number): void
  dropServer(server: number): void
  /** Gives connections, in flight, requests, refused, panics, dropped, sockets. */
  stats(server: number): [number, number, number, number, number, number, number]
  /**
   * Throws `E_BAD_OPTION` if the settings cannot be used; then nothing changes. `native-tls.ts` gives the arguments.
   */
  setTls(
    server: number,
    certificates: (number | string | Uint8Array)[],
    ca: readonly Uint8Array[],
    crl: readonly Uint8Array[],
    ciphers: readonly string[],
    groups: readonly string[],
    ticketKeys: Uint8Array | null,
    numbers: Float64Array,
  ): void
  /** Gives null if the exchange is over or its connection is not encrypted. */
  tlsInfo(slot: number, generation: number): TlsAnswer | null
  /** Gives how many bytes wait to be sent to a WebSocket, of those that were applied. */
  unsent(slot: number, generation: number): number
  setReferenced(server: number, on: boolean): void
  flush(): void
  /** Has the clock of time limits stand still, or go on from where it stands. For tests. */
  holdClock(hold: boolean): void
  /** Moves the clock of time limits on; what is late is ended in the next round of the event loop. For tests. */
  advanceClock(ms: number): void
}

/** Seals and opens texts by the keys that it was made with. `crates/node/src/sealing.rs` defines its functions. */
export interface TextSealer {
  /** Gives the sealed text; null if the text has more than 16,384 bytes, or the name more than 256. */
  seal(name: string, text: string): string | null
  /** Gives the text that was sealed under this name; null for anything else. */
  open(name: string, sealed: string): string | null
}

/** Counts in memory that processes share. `crates/node/src/counting.rs` defines its functions. */
export interface CountTable {
  /**
   * Gives the limit that counts by these policies, each of which has four numbers: the algorithm (0 `gcra`, 1 `fixed`, 2
   * `sliding`), `max`, the window in microseconds, and `burst`. Limits of the same identity and numbers count together
   * in all processes.
   */
  limit(identity: string, quotas: Float64Array): CountedLimit
  /**
   * Gives figures of the whole table: how many keys had to go while they still counted, and how often a lock was taken
   * from a process that had ended or was stopped.
   */
  stats(): { evicted: number; broken: number }
}

/** A limit that is counted in a table. There is a key for each policy, in their order. */
export interface CountedLimit {
  /**
   * Charges all keys, or none of them, and gives true if they were charged. `levels` gets four numbers for each: 1 if it
   * is allowed, the units that remain, and the microseconds until the quota is there again, and until the units are.
   */
  take(cost: number, levels: Float64Array, ...keys: string[]): boolean
  /** Gives back what was taken. */
  refund(cost: number, ...keys: string[]): void
  /** Forgets a key, of all policies. */
  reset(key: string): void
  /** Gives how many keys of the limit are kept now. It reads the whole table, about 20 µs for each MiB. */
  keys(): number
}

/** Where a socket of the supervisor listens. */
export interface AcceptorAddress {
  readonly listener: number
  readonly host?: string
  readonly port?: number
  readonly path?: string
}

/** The supervisor's acceptor. `crates/node/src/supervisor.rs` defines its functions. */
export interface Acceptor {
  /** Throws the system's error. Connections wait until a worker is attached. */
  listen(host: string, port: number, path: string | null, backlog: number, ipv6Only: boolean): AcceptorAddress
  /** Takes a socket that listens already. */
  adopt(fd: number): AcceptorAddress
  /** Says whether clients of the listener speak TLS: then nobody can tell them anything before the handshake. */
  setEncrypted(listener: number, encrypted: boolean): void
  closeListener(listener: number): void
  /** Gives the worker's number, and the descriptors that its process inherits. */
  addWorker(): [worker: number, connections: number, listeners: number]
  /** Says that the worker's process has its descriptors, or will never have them. */
  spawned(worker: number): void
  attach(worker: number, listener: number): void
  detach(worker: number, listener: number): void
  /** Sends the listening socket itself. */
  handDown(worker: number, listener: number): void
  setTakes(worker: number, takes: boolean): void
  removeWorker(worker: number): void
  setRefusing(refusing: boolean): void
  stopListening(): void
  /** Is called every second. */
  tick(): void
}

/** What a supervisor and its workers need of the system. A binary that was built before it existed has none of it. */
export interface SupervisorAddon {
  acceptor(): Acceptor
  /** Gives how many threads can run at once, by affinity and the quota of the control group. */
  parallelism(): number
  /** Tells the service manager (`sd_notify`); gives whether it was told. */
  notify(address: string, state: string): boolean
  /** Takes the exit status of ended children whose process ids are not among the `known`; gives their number. */
  reap(known: Float64Array): number
  /** Ends this process `patience` ms after the other end of the pair is closed, or as much later as `goOnFor` has said. */
  follow(fd: number, patience: number): void
  /** Gives this process so many milliseconds to end by itself. */
  goOnFor(milliseconds: number): void
  /** Gives the listening socket that the supervisor has sent by this pair; −1 if there is none. */
  receiveListener(fd: number): number
}

export interface Addon extends Partial<SupervisorAddon> {
  readonly layoutHash: number
  /** Takes 32 bytes of each key and 6 of its id. A binary that was built before it existed has none. */
  readonly sealer?: (derived: Uint8Array) => TextSealer
  /** Makes a table of so many bytes, and gives its descriptor. An older binary has no tables. */
  readonly shareTable?: (bytes: number) => number
  /** Maps the table of a descriptor, which stays open and becomes close-on-exec. */
  readonly openTable?: (fd: number) => CountTable
  open(
    memory: ArrayBuffer,
    onSlice: (count: number, page: number) => void,
    references: Uint8Array[],
    bodies: Buffer[],
    overflow: (Int32Array | Uint8Array)[],
    resource: object,
  ): Binding
}

const require = createRequire(import.meta.url)

/** Gives the addon, or half a sentence that says why this process cannot use it. */
export function loadAddon(): { addon: Addon } | { reason: string } {
  const unsupported = unsupportedRuntime()
  if (unsupported !== null) return { reason: unsupported }
  const found = findBinary()
  if ('reason' in found) return found
  let addon: Addon
  try {
    addon = require(found.file) as Addon
  } catch (error) {
    return { reason: `the engine did not load: ${(error as Error).message.split('\n')[0]}` }
  }
  if (addon.layoutHash !== layoutHash) {
    return { reason: 'the engine was built from other sources than this package: build it again' }
  }
  return { addon }
}

/** Bun and Deno have N-API but not libuv's loop, and Electron has a loop of its own. `process.versions` tells them. */
function unsupportedRuntime(): string | null {
  for (const runtime of ['bun', 'deno', 'electron']) {
    if (process.versions[runtime] !== undefined) return `the engine does not run on ${runtime}`
  }
  if (process.platform !== 'linux' && process.platform !== 'darwin') {
    return `the engine does not support ${process.platform}`
  }
  return null
}

/** Takes the binary that `VOLANT_ENGINE` names, else the checkout's own build, else the platform's package. */
function findBinary(): { file: string } | { reason: string } {
  const named = process.env['VOLANT_ENGINE']
  if (named !== undefined && named !== '') return { file: named }
  const platform = `${process.platform}-${process.arch}`
  const built = fileURLToPath(new URL(`../../native/volant.${platform}.node`, import.meta.url))
  if (existsSync(built)) return { file: built }
  return findPackaged(`@volant/engine-${platform}${process.platform === 'linux' ? '-gnu' : ''}`)
}

/** Each platform's binary is a package, and npm installs the one for this platform. It has the version of this package. */
function findPackaged(name: string): { file: string } | { reason: string } {
  const { version } = require('../../package.json') as { version: string }
  let packaged: { version: string }
  let file: string
  try {
    packaged = require(`${name}/package.json`) as { version: string }
    file = require.resolve(name)
  } catch {
    return {
      reason: `its engine for this platform, ${name}, is not installed: npm install ${name}@${version}, or install without --omit=optional`,
    }
  }
  if (packaged.version === version) return { file }
  return {
    reason: `${name} is version ${packaged.version}, but @volant/engine ${version}: install the same version of both`,
  }
}
