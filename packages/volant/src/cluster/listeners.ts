/** The sockets that the supervisor listens with: those that its workers ask for, and those that systemd passes. */
import { isIP } from 'node:net'
import type { Acceptor, AcceptorAddress } from '@volant/engine/supervisor'
import type { GivenListener, ListenFault, WantedListener } from '../worker/messages.ts'
import type { WorkerProcess } from './worker-process.ts'

/** The first descriptor that systemd passes (`sd_listen_fds(3)`). */
const firstPassed = 3

export class BoundListeners {
  readonly #acceptor: Acceptor
  /** The listeners by what was asked for. */
  readonly #bound = new Map<string, Promise<GivenListener | ListenFault>>()
  /** The sockets of systemd that nobody has asked for. */
  readonly #passed: GivenListener[] = []

  constructor(acceptor: Acceptor) {
    this.#acceptor = acceptor
    this.#passed = this.#adopt()
  }

  /** Since when nobody has a listener. */
  readonly #deserted = new Map<number, number>()

  /** The addresses of systemd that no app listens at. */
  get unused(): readonly string[] {
    return this.#passed.map(({ host, port, path }) => path ?? `${host}:${port}`)
  }

  /** Binds what the worker wants, or gives what is bound already. */
  async give(worker: WorkerProcess, wanted: WantedListener): Promise<GivenListener | ListenFault> {
    const key = keyOf(wanted)
    let bound = this.#bound.get(key)
    if (bound === undefined) this.#bound.set(key, (bound = this.#bind(wanted)))
    const given = await bound
    if ('code' in given) {
      // The next one tries again.
      this.#bound.delete(key)
      return given
    }
    // Its number may be that of another worker now.
    if (worker.ending !== null) return { code: 'E_LISTEN', message: 'the worker has ended' }
    // For a second app of the process the address is in use, as it would be without a supervisor.
    if (worker.listeners.has(given.listener)) return inUse
    this.#acceptor.setEncrypted(given.listener, wanted.isEncrypted)
    try {
      if (wanted.accepts) this.#acceptor.handDown(worker.number, given.listener)
    } catch (error) {
      return faultOf(error)
    }
    worker.listeners.add(given.listener)
    return given
  }

  /** Has the connections of a listener come to a worker that takes them. */
  attach(worker: WorkerProcess, listener: number): void {
    if (worker.listeners.has(listener)) this.#acceptor.attach(worker.number, listener)
  }

  /** Has no more connections of a listener come to a worker. */
  release(worker: WorkerProcess, listener: number): void {
    worker.listeners.delete(listener)
    this.#acceptor.detach(worker.number, listener)
  }

  /**
   * Closes the listeners that none of these workers has had for `time` ms: the app does not listen there any more. A new
   * version may come to it late, after it has connected to a database, say.
   */
  retain(workers: readonly WorkerProcess[], time: number): void {
    const now = performance.now()
    for (const [key, bound] of this.#bound) {
      void bound.then((given) => {
        if ('code' in given) return
        const { listener } = given
        if (workers.some(({ listeners }) => listeners.has(listener))) {
          this.#deserted.delete(listener)
          return
        }
        const since = this.#deserted.get(listener) ?? now
        this.#deserted.set(listener, since)
        if (now - since < time || !this.#bound.delete(key)) return
        this.#deserted.delete(listener)
        this.#acceptor.closeListener(listener)
      })
    }
  }

  async #bind(wanted: WantedListener): Promise<GivenListener | ListenFault> {
    try {
      const { host } = wanted
      const address = host === null || isIP(host) ? host : await addressOf(host)
      const passed = this.#passed.findIndex((each) => isSame(each, { ...wanted, host: address }))
      if (passed >= 0) return this.#passed.splice(passed, 1)[0] as GivenListener
      return given(this.#listen({ ...wanted, host: address }))
    } catch (error) {
      return faultOf(error)
    }
  }

  #listen({ port, host, path, backlog, ipv6Only }: WantedListener): AcceptorAddress {
    const listenAt = (address: string): AcceptorAddress =>
      this.#acceptor.listen(address, port, path, backlog, ipv6Only)
    if (path !== null) return listenAt('')
    if (host !== null) return listenAt(host)
    try {
      return listenAt('::')
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code !== 'EAFNOSUPPORT' && code !== 'EADDRNOTAVAIL' && code !== 'EINVAL') throw error
      return listenAt('0.0.0.0')
    }
  }

  /** Takes the sockets that systemd passes (`sd_listen_fds(3)`), if they are for this process. */
  #adopt(): GivenListener[] {
    const count = Number(process.env['LISTEN_FDS'] ?? 0)
    if (process.env['LISTEN_PID'] !== String(process.pid) || !Number.isInteger(count)) return []
    return Array.from({ length: count }, (_, at) => given(this.#acceptor.adopt(firstPassed + at)))
  }
}

/** Is loaded only here, since most apps listen at addresses. */
async function addressOf(host: string): Promise<string> {
  const { lookup } = await import('node:dns/promises')
  return (await lookup(host)).address
}

const inUse: ListenFault = { code: 'EADDRINUSE', message: 'another app of the process listens there' }

function keyOf({ port, host, path, ordinal }: WantedListener): string {
  return JSON.stringify(path ?? (port === 0 ? [host, port, ordinal] : [host, port]))
}

function isSame(passed: GivenListener, { port, host, path }: WantedListener): boolean {
  if (path !== null) return passed.path === path
  if (port === 0 || passed.port !== port) return false
  return host === null ? passed.host === '::' || passed.host === '0.0.0.0' : passed.host === host
}

function given({ listener, host, port, path }: AcceptorAddress): GivenListener {
  return { listener, host: host ?? null, port: port ?? null, path: path ?? null }
}

function faultOf(error: unknown): ListenFault {
  const { code = 'E_LISTEN', message } = error as NodeJS.ErrnoException
  return { code, message }
}
