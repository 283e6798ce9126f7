/**
 * Is loaded in `volant dev` by `--import`, which kills an old version that has not ended within half a second. This limit
 * and longer ones last a hundred times as long here: a hang reaches them, and a busy machine does not. The app keeps the
 * timers of Node.js.
 */
process.execArgv.splice(process.execArgv.indexOf(import.meta.url) - 1, 2)

const { setTimeout } = globalThis
const longer = (run: () => void, ms = 0): NodeJS.Timeout => setTimeout(run, ms < 500 ? ms : 100 * ms)
globalThis.setTimeout = Object.assign(longer, setTimeout)
