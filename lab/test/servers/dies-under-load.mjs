// Ends at the request that AT says.
import { afterTheCheck, hello, serve } from './serve.mjs'

const at = Number(process.env.AT ?? afterTheCheck)
let asked = 0

serve((request, response) => {
  asked += 1
  if (asked === at) process.exit(3)
  hello(request, response)
})
