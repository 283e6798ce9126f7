/** Writes values as JSON text for log lines: nothing a client sends can end a line or a string, or reach a terminal. */

/** Matches what JSON escapes, and the control characters and line ends that it leaves alone. */
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const special = /["\\\u0000-\u001f\u007f-\u009f\u2028\u2029\ud800-\udfff]/
// oxlint-disable-next-line no-control-regex -- as above
const leftByJson = /[\u007f-\u009f\u2028\u2029]/g

/** Gives the inside of a JSON string. Most texts have nothing to escape and are given back as they are. */
export function inString(text: string): string {
  return special.test(text) ? safe(JSON.stringify(text)).slice(1, -1) : text
}

/** Gives JSON without control characters. */
export function safe(json: string): string {
  return json.replace(
    leftByJson,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

const thousandths: readonly string[] = Array.from({ length: 1_000 }, (_, part) =>
  part === 0 ? '' : `.${String(part).padStart(3, '0').replace(/0+$/, '')}`,
)

/** Gives milliseconds with at most three decimals: two table look-ups cost less than writing a fraction. */
export function milliseconds(value: number): string {
  const micros = Math.round(value * 1_000)
  return `${Math.floor(micros / 1_000)}${thousandths[micros % 1_000] as string}`
}

let lastTime = 0
let lastText = ''

/** Gives the time in milliseconds since 1970; requests of the same millisecond share the text. */
export function now(): string {
  const time = Date.now()
  if (time !== lastTime) {
    lastTime = time
    lastText = String(time)
  }
  return lastText
}

/** The most characters of one text in a line. */
export const longestText = 16_384

/** Cuts a text that is too long for a line, and says so. */
export function shortened(text: string, most = longestText): string {
  return text.length <= most ? text : `${text.slice(0, most)}… ${text.length - most} more characters`
}

/** The most errors behind one another whose stacks are written, and the most of an `AggregateError`. */
const mostCauses = 5
const mostErrors = 10

/** Gives an error as pino writes it: `{"type":…,"message":…,"stack":…}`, and its `code` if it has one. Never throws. */
export function errorText(error: unknown): string {
  return safe(JSON.stringify(errorOf(error, true)))
}

interface ErrorFields {
  type: string
  message: string
  stack?: string
  code?: string
  aggregateErrors?: ErrorFields[]
}

/** Other properties stay out: the errors of clients have whole requests in them, with their secrets. */
function errorOf(error: unknown, isOutermost: boolean): ErrorFields {
  try {
    if (!(error instanceof Error)) return { type: typeof error, message: shortened(String(error)) }
    const { name, message } = error
    const { code, errors } = error as { code?: unknown; errors?: unknown }
    return {
      type: shortened(String(error.constructor?.name || name)),
      message: shortened(String(message)),
      stack: shortened(stacksOf(error)),
      ...(typeof code === 'string' ? { code: shortened(code) } : {}),
      ...(isOutermost && Array.isArray(errors)
        ? { aggregateErrors: errors.slice(0, mostErrors).map((each) => errorOf(each, false)) }
        : {}),
    }
  } catch {
    // A getter of the value threw.
    return { type: typeof error, message: 'an error that cannot be read' }
  }
}

/** Gives the stack of the error, and those of its causes. */
function stacksOf(error: Error): string {
  let text = String(error.stack)
  let { cause } = error
  for (let count = 0; count < mostCauses && cause !== undefined && cause !== null; count++) {
    if (!(cause instanceof Error)) {
      return typeof cause === 'object' ? text : `${text}\ncaused by: ${String(cause)}`
    }
    text += `\ncaused by: ${cause.stack}`
    cause = cause.cause
  }
  return text
}
