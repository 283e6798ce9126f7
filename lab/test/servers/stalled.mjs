// Its loop stops once, for STALL ms or for ever: AFTER ms after its first request, the GREETED ones before it apart.
import { hello, serve } from './serve.mjs'

const after = Number(process.env.AFTER)
const stall = Number(process.env.STALL ?? Infinity)
let greetings = Number(process.env.GREETED ?? 0)
let first = null
let stalled = false

serve((request, response) => {
  if (greetings > 0) greetings -= 1
  else {
    const now = performance.now()
    first ??= now
    if (!stalled && now - first >= after) {
      stalled = true
      while (performance.now() - now < stall);
    }
  }
  hello(request, response)
})
