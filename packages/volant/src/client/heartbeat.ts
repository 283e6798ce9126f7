/** Finds connections that broke in silence: no close frame came, and nothing else will. */
import type { HeartbeatOptions, PlatformSocket } from './socket-types.ts'
import { longest, within } from './send.ts'

/** What the class `ws` and Bun have beyond the standard. */
interface PingingSocket extends PlatformSocket {
  ping?(): void
  on?(name: string, listener: () => void): void
  addEventListener?(name: string, listener: () => void): void
}

interface Beats {
  ask(message: unknown): void
  dead(error: Error): void
}

export class Heartbeat {
  readonly #interval: number
  readonly #message: unknown
  readonly #isOn: boolean
  readonly #beats: Beats
  #platform: PingingSocket | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #hasHeard = true
  #hasAsked = false

  constructor(options: false | HeartbeatOptions | undefined, beats: Beats) {
    const { interval = 30_000, message }: HeartbeatOptions = options || {}
    this.#interval = within('heartbeat.interval', interval, 1, longest)
    this.#message = message
    this.#isOn = options !== false
    this.#beats = beats
  }

  start(platform: PingingSocket): void {
    if (!this.#isOn || (this.#message === undefined && !platform.ping)) return
    this.#platform = platform
    this.#hasAsked = false
    // Both the answer of the other side and its own pings show that it is there.
    const listen = platform.on ?? platform.addEventListener
    for (const name of ['ping', 'pong']) listen?.call(platform, name, () => this.heard())
    this.#wait()
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#platform = undefined
  }

  heard(): void {
    this.#hasHeard = true
  }

  /** Asks at once: the network has changed. */
  ask(): void {
    const platform = this.#platform
    if (!platform) return
    this.#hasHeard = false
    this.#hasAsked = true
    this.#wait()
    if (this.#message === undefined) platform.ping!()
    else this.#beats.ask(this.#message)
  }

  #wait(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      if (this.#hasHeard) {
        this.#hasHeard = this.#hasAsked = false
        this.#wait()
      } else if (this.#hasAsked) {
        this.#beats.dead(new Error(`nothing came within ${this.#interval} ms, although the client asked`))
      } else this.ask()
    }, this.#interval)
  }
}
