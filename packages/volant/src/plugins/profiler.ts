/** Takes CPU profiles by the inspector of Node.js, one at a time and for a bounded time. */
import type { Session } from 'node:inspector'
import { refusal } from '../errors/errors.ts'

export class Profiler {
  /** Ends the profile that is being taken; null without one. */
  #end: (() => void) | null = null

  /** Ends the profile that is being taken before its time. */
  end(): void {
    this.#end?.()
  }

  /**
   * Gives a profile of the next `seconds`, as a file of Chromium's developer tools; null if the signal was aborted
   * meanwhile. Throws `E_PROFILE_RUNNING` while another one is taken.
   */
  async profile(seconds: number, signal: AbortSignal): Promise<string | null> {
    if (isTaken) throw refusal('E_PROFILE_RUNNING')
    isTaken = true
    try {
      const { Session: Inspector } = await import('node:inspector')
      const session = new Inspector()
      session.connect()
      try {
        await post(session, 'Profiler.enable')
        await post(session, 'Profiler.start')
        await this.#wait(seconds, signal)
        const { profile } = (await post(session, 'Profiler.stop')) as { profile: object }
        return signal.aborted ? null : JSON.stringify(profile)
      } finally {
        session.disconnect()
      }
    } finally {
      isTaken = false
    }
  }

  async #wait(seconds: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, seconds * 1_000)
      this.#end = () => {
        clearTimeout(timer)
        resolve()
      }
      signal.addEventListener('abort', this.#end, { once: true })
    })
    if (this.#end !== null) signal.removeEventListener('abort', this.#end)
    this.#end = null
  }
}

/** The apps of a thread share its profiler. */
let isTaken = false

function post(session: Session, method: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    session.post(method, (error, result) => {
      if (error === null) resolve(result)
      else reject(error)
    })
  })
}
