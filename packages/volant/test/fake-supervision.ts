/** A supervisor of tests: its workers are in one process, and their messages pass as those of processes do. */
import { type Supervision, setSupervision } from '../src/worker/supervision.ts'

type Listener = (channel: string, bytes: Uint8Array) => void

export class FakeSupervisor {
  readonly #workers = new Set<FakeWorker>()
  readonly #size: number

  constructor(size: number) {
    this.#size = size
  }

  /** Starts a worker. What `run` calls at once finds its supervisor. */
  start(slot: number): FakeWorker {
    const worker = new FakeWorker(slot, this.#size, (channel, bytes) => {
      for (const each of this.#workers) if (each !== worker) each.arrive(channel, bytes)
    })
    this.#workers.add(worker)
    return worker
  }

  /** Ends a worker as SIGKILL would: nothing of it arrives any more, and it gets nothing. */
  kill(worker: FakeWorker): void {
    this.#workers.delete(worker)
    worker.isGone = true
  }
}

export class FakeWorker {
  isGone = false
  /** What the worker asked its supervisor, such as `+ channel`. */
  readonly asked: string[] = []
  /** What `subscribe` waits for. */
  onSubscribe: () => Promise<void> = () => Promise.resolve()
  /** Is called before a message is passed on. */
  onPublish: () => void = () => {}
  readonly #channels = new Set<string>()
  readonly #supervision: Supervision
  #listener: Listener | null = null

  constructor(worker: number, workers: number, pass: Listener) {
    const unused = (): never => {
      throw new Error('no test of these asks for it')
    }
    this.#supervision = {
      worker,
      workers,
      isDevelopment: false,
      table: null,
      connections: -1,
      listen: unused,
      take: unused,
      receiveListener: unused,
      unlisten: unused,
      onLeave: () => {},
      onDrain: () => {},
      onBeat: () => {},
      ready: unused,
      info: unused,
      gather: unused,
      onGather: () => {},
      roll: unused,
      publish: async (channel, bytes) => {
        if (this.isGone) return
        this.onPublish()
        // Bytes that pass between processes are others, and arrive later.
        const copy = structuredClone(new Uint8Array(bytes))
        setImmediate(() => pass(channel, copy))
      },
      subscribe: async (channels) => {
        this.asked.push(...channels.map((each) => `+ ${each}`))
        await this.onSubscribe()
        for (const each of channels) this.#channels.add(each)
      },
      unsubscribe: async (channel) => {
        this.asked.push(`- ${channel}`)
        this.#channels.delete(channel)
      },
      onMessage: (listener) => {
        this.#listener = listener
      },
    }
  }

  /** Runs `work`, which finds this worker's supervisor where it asks for it at once. */
  run<T>(work: () => T): T {
    setSupervision(this.#supervision)
    try {
      return work()
    } finally {
      setSupervision(undefined as never)
    }
  }

  arrive(channel: string, bytes: Uint8Array): void {
    if (!this.isGone && this.#channels.has(channel)) this.#listener?.(channel, bytes)
  }
}
