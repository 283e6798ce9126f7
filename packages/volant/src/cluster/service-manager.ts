/** Tells systemd how the service is doing (`sd_notify(3)`); without systemd it does nothing. */
import type { SupervisorAddon } from '@volant/engine/supervisor'

/** The milliseconds between two calls of `live`. */
const pulse = 1_000

export class ServiceManager {
  readonly #addon: SupervisorAddon
  readonly #address = process.env['NOTIFY_SOCKET'] ?? ''
  /** The milliseconds between two signs of life; 0 if none are wanted. */
  readonly #watch: number
  #told = 0

  constructor(addon: SupervisorAddon) {
    this.#addon = addon
    const { WATCHDOG_USEC: time = '0', WATCHDOG_PID: pid = String(process.pid) } = process.env
    // Half the time, as sd_watchdog_enabled(3) advises.
    this.#watch = pid === String(process.pid) ? Number(time) / 2_000 : 0
  }

  /** `fails`: workers were to be replaced, and a new one did not start. */
  ready(workers: number, fails = false): void {
    const rest = fails ? '; the last replacement failed, and old ones stay' : ''
    this.#tell(`READY=1\nSTATUS=${workers} workers serve${rest}`)
  }

  reloading(): void {
    // Both in one message, or systemd takes the first as the end of the reload (sd_notify(3)).
    this.#tell(`RELOADING=1\nMONOTONIC_USEC=${process.hrtime.bigint() / 1_000n}\nSTATUS=Workers are replaced`)
  }

  stopping(): void {
    this.#tell('STOPPING=1\nSTATUS=Workers answer what is left')
  }

  /** Is called every second while a worker beats. */
  live(): void {
    const now = performance.now()
    // The next call may come too late by what a timer is late.
    if (this.#watch === 0 || now - this.#told < this.#watch - pulse / 2) return
    this.#told = now
    this.#tell('WATCHDOG=1')
  }

  #tell(state: string): void {
    if (this.#address !== '') this.#addon.notify(this.#address, state)
  }
}
