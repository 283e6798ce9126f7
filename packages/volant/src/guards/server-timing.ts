/** `serverTiming()` tells browsers what a reply took, in Server-Timing (W3C Server Timing §3). */
import { gateOf, hintMisuse, metadataOf, attach } from '../dispatch/declare.ts'
import { checkFlag, checkNames, checkText } from '../options/checks.ts'
import { foreignNames } from '../options/foreign-names.ts'
import type { FittingMiddleware } from '../types/parts.ts'
import type { RequestContext } from '../types/request.ts'
import { isThenable } from '../types/thenable.ts'

/** The options of `serverTiming`. */
export interface ServerTimingOptions {
  /**
   * True sends the field. Default: unless NODE_ENV is `production`, since durations tell strangers about the server, such
   * as whether a name is in the database.
   */
  enabled?: boolean | undefined
  /** The name of the entry for the whole, from this middleware to the reply; false for none. Default `total`. */
  total?: string | false | undefined
}

/** Takes the durations of a request, in `ctx.state.timing`. */
export interface Timing {
  /** Adds an entry: a duration in milliseconds, a description, both or none. */
  mark(name: string, duration?: number, description?: string): void
  /** Starts a clock. What it gives adds the entry when it is called. */
  start(name: string, description?: string): () => void
  /** Runs `work` and adds what it took, until its promise settles if it gives one. */
  time<T>(name: string, work: () => T, description?: string): T
}

/**
 * Sends what the parts of a reply took, for the developer tools of browsers:
 *
 *     const timed = app.with(serverTiming())
 *     timed.get('/books', async (ctx) => ctx.state.timing.time('db', () => db.books()))
 *
 * The reply says `Server-Timing: db;dur=12.3, total;dur=13.1`. Entries count until the head of the reply leaves, and at
 * most 50 of them. Throws `E_BAD_OPTION`.
 */
export function serverTiming(
  options: ServerTimingOptions = {},
): FittingMiddleware<{ state: { timing: Timing } }> {
  checkNames('serverTiming', options, ['enabled', 'total'], foreignNames.serverTiming)
  const usual = process.env['NODE_ENV'] !== 'production'
  const enabled = checkFlag('serverTiming: enabled', options.enabled, usual)
  const { total = 'total' } = options
  if (total !== false)
    checkText('serverTiming: total', total, token, 'a name of letters, digits, - and _, or false')
  if (!enabled) return adding(() => ignored)
  const layer = adding(() => new Entries())
  return attach(layer, {
    ...metadataOf(layer),
    onSend: (given) => {
      const ctx = given as unknown as RequestContext
      const { timing } = ctx.state
      if (!(timing instanceof Entries)) return
      const text = timing.text(total)
      if (text !== '') ctx.append('server-timing', text)
    },
  })
}

hintMisuse(serverTiming, 'app.use(serverTiming())')

function adding(make: () => Timing): FittingMiddleware<{ state: { timing: Timing } }> {
  return gateOf((ctx) => {
    ctx.state['timing'] = make()
  }) as FittingMiddleware<{ state: { timing: Timing } }>
}

/** The name of an entry (RFC 9110 §5.6.2). */
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,64}$/
const notInToken = /[^!#$%&'*+\-.^_`|~0-9A-Za-z]/g
/** A field that is longer could be more than a proxy takes. */
const mostEntries = 50
const longestText = 128

/** Takes entries where none are sent. */
const ignored: Timing = {
  mark() {},
  start: () => () => {},
  time: (_, work) => work(),
}

class Entries implements Timing {
  readonly #started = performance.now()
  readonly #texts: string[] = []

  mark(name: string, duration?: number, description?: string): void {
    if (this.#texts.length >= mostEntries) return
    // What goes wrong in a measurement must not fail the request: names are mended, not refused.
    const safe = String(name).slice(0, longestText).replace(notInToken, '_')
    if (safe === '') return
    this.#texts.push(safe + durationText(duration) + descriptionText(description))
  }

  start(name: string, description?: string): () => void {
    const started = performance.now()
    return () => this.mark(name, performance.now() - started, description)
  }

  time<T>(name: string, work: () => T, description?: string): T {
    const end = this.start(name, description)
    let result: T
    try {
      result = work()
    } catch (error) {
      end()
      throw error
    }
    // The caller gets the promise itself, whose rejection is his.
    if (isThenable(result)) result.then(end, end)
    else end()
    return result
  }

  /** Gives the value of the field; empty if there is nothing to say. */
  text(total: string | false): string {
    const own = total === false ? [] : [total + durationText(performance.now() - this.#started)]
    return [...this.#texts, ...own].join(', ')
  }
}

function durationText(duration: unknown): string {
  if (typeof duration !== 'number' || !Number.isFinite(duration) || duration < 0) return ''
  return `;dur=${Math.round(duration * 100) / 100}`
}

/** Writes a quoted string (RFC 9110 §5.6.4) of what can be seen in ASCII. */
function descriptionText(description: unknown): string {
  if (typeof description !== 'string' || description === '') return ''
  const text = description.slice(0, longestText).replace(/[^\x20-\x7e]/g, '?')
  return `;desc="${text.replace(/["\\]/g, '\\$&')}"`
}
