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

/** Gives an error as pino writes it: `{"type":…,"message":…,"stack":…}`, and its `code` if it has one. */
export function errorText(error: unknown): string {
  return safe(JSON.stringify(errorOf(error)))
}

function errorOf(error: unknown): { type: string; message: string; stack?: string; code?: string } {
  try {
    if (!(error instanceof Error)) return { type: typeof error, message: String(error) }
    const { name, message, stack, cause } = error
    const more = cause instanceof Error ? `\ncaused by: ${cause.stack}` : ''
    const { code } = error as { code?: unknown }
    return {
      type: error.constructor?.name || String(name),
      message: String(message),
      stack: String(stack) + more,
      ...(typeof code === 'string' ? { code } : {}),
    }
  } catch {
    // A getter of the value threw.
    return { type: typeof error, message: 'an error that cannot be read' }
  }
}
