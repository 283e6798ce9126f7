/**
 * `--import` loads this in `volant dev`, which kills an old version a second after it should have ended. Limits of half a
 * second and more last a hundred times as long here, so that a busy machine does not reach them and a test that hangs
 * fails by its own limit first. The app keeps the timers of Node.js.
 */
const at = process.execArgv.indexOf(import.meta.url)
if (at > 0) process.execArgv.splice(at - 1, 2)

const { setTimeout } = globalThis
const longer = (run: (...values: unknown[]) => void, ms = 0, ...values: unknown[]): NodeJS.Timeout =>
  setTimeout(run, ms < 500 ? ms : 100 * ms, ...values)
globalThis.setTimeout = Object.assign(longer, setTimeout)
