// Its loop stops once, AFTER ms after its first request: for STALL ms, or for ever.
import { hello, serve } from './serve.mjs'

const after = Number(process.env.AFTER)
const stall = Number(process.env.STALL ?? Infinity)
let first = null
let stalled = false

serve((request, response) => {
  const now = performance.now()
  first ??= now
  if (!stalled && now - first >= after) {
    stalled = true
    while (performance.now() - now < stall);
  }
  hello(request, response)
})
